/** The player of a run folder: the same panels, time line and chart, on data inside the page. */

import { byId, currentMode, download, make } from "./dom.js";
import { viewPng, viewSvg } from "./exports.js";
import { Editor } from "./editor.js";
import { Stage } from "./stage.js";
import { explain } from "./why.js";

/** @import { Recovery, Run } from "./types.js" */
/** @import { Panel } from "./stage.js" */

const MOST_SHOWN = 6;
const data = JSON.parse(byId("run", HTMLElement).textContent ?? "{}");
const stage = new Stage(byId("grid", HTMLElement), byId("timeline", HTMLElement), byId("chart", HTMLCanvasElement));
const editor = new Editor(stage, byId("tip", HTMLElement), () => {});
editor.enabled = false;
/** @type {Run[]} */
const runs = data.recoveries.map((/** @type {Recovery} */ recovery) => ({
  planner: recovery.planner, recovery, problem: null, fraction: 1, message: "", preview: null, history: [], abort: null,
}));
stage.overlay = (/** @type {CanvasRenderingContext2D} */ ink, /** @type {Panel} */ panel) => editor.overlay(ink, panel);
/** @type {Run[]} Those that are shown, the one chosen last at the end. */
let shown = runs.slice(0, MOST_SHOWN);
stage.showRuns(data.scenario, shown);
if (runs.length > 1) listRuns();

/** A button for every run: at most six are shown at once. */
function listRuns() {
  const buttons = runs.map((run) => {
    const button = make("button", { class: "small", text: run.planner, onclick: () => toggle(run) });
    button.setAttribute("aria-pressed", String(shown.includes(run)));
    return button;
  });
  byId("runs", HTMLElement).replaceChildren(...buttons);
}

/** @param {Run} run */
function toggle(run) {
  const others = shown.filter((other) => other !== run);
  if (others.length === shown.length) shown = [...shown, run].slice(-MOST_SHOWN);
  else if (others.length) shown = others;
  const { time, playing } = stage;
  stage.showRuns(data.scenario, runs.filter((other) => shown.includes(other)));
  stage.playing = playing;
  stage.setTime(time);
  listRuns();
}
const best = runs.find((run) => run.recovery?.plan)?.recovery?.plan?.certificate;
byId("status", HTMLElement).textContent = best ? explain(data.scenario, best)[0].text : "";
byId("theme", HTMLElement).addEventListener("click", () => {
  document.documentElement.dataset.theme = currentMode() === "dark" ? "light" : "dark";
  stage.draw();
});
byId("save-png", HTMLElement).addEventListener("click", () => void viewPng(stage).then((blob) => download(blob, "reknit.png")));
byId("save-svg", HTMLElement).addEventListener("click", () => download(viewSvg(stage), "reknit.svg"));
document.addEventListener("keydown", (event) => {
  if (event.key === "k") stage.togglePlay();
  else if (event.key === ",") stage.setTime(stage.time - 0.1);
  else if (event.key === ".") stage.setTime(stage.time + 0.1);
});
stage.togglePlay();
