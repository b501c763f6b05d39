/** The player of a run folder: the same panels, time line and chart, on data inside the page. */

import { byId, currentMode, download } from "./dom.js";
import { viewPng, viewSvg } from "./exports.js";
import { Editor } from "./editor.js";
import { Stage } from "./stage.js";
import { explain } from "./why.js";

/** @import { Recovery, Run } from "./types.js" */

const data = JSON.parse(byId("run", HTMLElement).textContent ?? "{}");
const stage = new Stage(byId("grid", HTMLElement), byId("timeline", HTMLElement), byId("chart", HTMLCanvasElement));
const editor = new Editor(stage, byId("tip", HTMLElement), () => {});
editor.enabled = false;
/** @type {Run[]} */
const runs = data.recoveries.map((/** @type {Recovery} */ recovery) => ({
  planner: recovery.planner, recovery, problem: null, fraction: 1, message: "", history: [], abort: null,
}));
stage.showRuns(data.scenario, runs);
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
