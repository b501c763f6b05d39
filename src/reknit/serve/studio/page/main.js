/** The studio: make a swarm, break it, mend it, see why, take it away. */

import { ServiceProblem, getJson, post, rememberToken, runJob } from "./api.js";
import { byId, currentMode, download, make } from "./dom.js";
import { Editor } from "./editor.js";
import { commands, flightTable, scenarioTable, viewFilm, viewPng, viewSvg } from "./exports.js";
import { demandForm, form } from "./forms.js";
import { byImportance, findLinks, networkOf, randomStream } from "./network.js";
import { dimension, flat, readFragment, readScenario, shareFragment, survivorsOf, withDestroyed } from "./scenario.js";
import { Stage } from "./stage.js";
import { drawBranch, drawCritical, drawProof, explain } from "./why.js";

/** @import { Recovery, Run, Scenario } from "./types.js" */
/** @import { Proof } from "./why.js" */
/** @import { Tool } from "./editor.js" */
/** @import { Panel } from "./stage.js" */

const MOST_PANELS = 6;
const NUMBERS_PER_FLIGHT = 400000;
const FIRST = { uavs: 150, destroyed: 0.6, seed: 5, damage: "random", split: true };
const USUAL = new Set(["uavs", "destroyed", "seed", "layout", "damage"]);

const stage = new Stage(byId("grid", HTMLElement), byId("timeline", HTMLElement), byId("chart", HTMLCanvasElement));
const editor = new Editor(stage, byId("tip", HTMLElement), (scenario, what) => change(scenario, what, null));

/** @type {Scenario | null} */
let scenario = null;
/** @type {Object<string, any> | null} */
let origin = null;
/** @type {Scenario[]} */
const past = [];
/** @type {Run[]} */
let runs = [];
/** @type {Proof[]} */
let proofs = [];
let proofStep = -1;
/** @type {{name: string, summary: string, ready: boolean, steers: boolean, polishes: boolean}[]} */
let planners = [];
/** @type {Object<string, any>} */
let schemas = {};
/** @type {() => Object<string, any>} */
let readGeneration = () => ({ ...FIRST });
/** @type {() => Object<string, any>} */
let readDemands = () => ({});

/**
 * @param {string} text
 * @param {boolean} [isBad]
 */
function say(text, isBad = false) {
  const line = byId("status", HTMLElement);
  line.textContent = text;
  line.classList.toggle("bad", isBad);
}

/** @param {unknown} error */
function complain(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const detail = error instanceof Error ? error.message : String(error);
  say(detail, true);
  if (error instanceof ServiceProblem && error.status === 401) byId("token-dialog", HTMLDialogElement).showModal();
  if (error instanceof ServiceProblem && error.status === 0) void waitForService();
}

let isWaiting = false;

/** Ask now and then until the service is back; the page keeps what it has meanwhile. */
async function waitForService() {
  if (isWaiting) return;
  isWaiting = true;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    try {
      await getJson("/v1/health");
      break;
    } catch {
      continue;
    }
  }
  isWaiting = false;
  say("The service is back.");
  if (!planners.length) await begin().catch(complain);
}

/**
 * Take a scenario over as the present one.
 * @param {Scenario} next
 * @param {string} what
 * @param {Object<string, any> | null} made
 * @param {boolean} [refit]
 */
function change(next, what, made, refit = false) {
  if (scenario && scenario !== next) past.push(scenario);
  if (past.length > 100) past.shift();
  scenario = next;
  origin = made;
  stopRuns();
  runs = [];
  listTaken();
  proofs = [];
  proofStep = -1;
  stage.showScenario(next, refit);
  setView("swarm");
  describe(what);
  readDemands = demandForm(byId("demands", HTMLElement), schemas.ScenarioFile?.properties ?? {}, next);
}

/** @param {string} what */
function describe(what) {
  if (!scenario) return;
  const dim = dimension(scenario);
  const ids = survivorsOf(scenario);
  const points = flat(ids.map((id) => /** @type {Scenario} */ (scenario).positions_m[id]), dim);
  const { count, sizes } = networkOf(points, dim, scenario.radio_range_m);
  const pieces = count === 1 ? "still one network" : `${count} sub-nets, the largest of ${sizes[0]}`;
  const text = `${scenario.positions_m.length} UAVs, ${scenario.destroyed.length} destroyed, ${ids.length} survive: ${pieces}.`;
  say(what ? `${what[0].toUpperCase()}${what.slice(1)}. ${text}` : text);
  byId("summary", HTMLElement).textContent = text;
  byId("undo", HTMLButtonElement).disabled = !past.length;
}

/** @param {"swarm" | "runs"} view */
function setView(view) {
  byId("show-swarm", HTMLElement).setAttribute("aria-pressed", String(view === "swarm"));
  byId("show-runs", HTMLElement).setAttribute("aria-pressed", String(view === "runs"));
  byId("show-runs", HTMLButtonElement).disabled = !runs.length;
  byId("tools", HTMLElement).hidden = view === "runs";
}

function showSwarm() {
  if (!scenario) return;
  stage.showScenario(scenario, true);
  setView("swarm");
}

function showRuns() {
  if (!scenario || !runs.length) return;
  stage.showRuns(scenario, runs);
  setView("runs");
}

function stopRuns() {
  for (const run of runs) run.abort?.abort();
}

/** @returns {string[]} */
function chosenPlanners() {
  const boxes = byId("planners", HTMLElement).querySelectorAll("input:checked");
  const names = [...boxes].map((box) => /** @type {HTMLInputElement} */ (box).value);
  const own = byId("own-planner", HTMLInputElement).value.trim();
  return (own ? [...names, own] : names).slice(0, MOST_PANELS);
}

function planSeed() {
  return Math.max(0, Math.round(Number(byId("plan-seed", HTMLInputElement).value) || 0));
}

/** @returns {number | null} */
function planBudget() {
  const budget = Number(byId("budget", HTMLInputElement).value);
  return budget > 0 ? budget : null;
}

/** Plan and fly with every chosen planner, side by side. */
function mend() {
  const names = chosenPlanners();
  if (!scenario) return;
  if (!names.length) {
    say("Choose a planner first.", true);
    return;
  }
  stopRuns();
  proofs = [];
  proofStep = -1;
  runs = names.map((planner) => ({ planner, recovery: null, problem: null, fraction: 0, message: "waiting", preview: null, history: [], abort: new AbortController() }));
  showRuns();
  say(`Mending with ${names.join(", ")} …`);
  const survivors = scenario.positions_m.length - scenario.destroyed.length;
  const frames = Math.max(20, Math.min(240, Math.floor(NUMBERS_PER_FLIGHT / (survivors * dimension(scenario)))));
  const seed = planSeed();
  const own = runs;
  const body = { scenario, seed, frames, budget_s: planBudget() };
  void Promise.all(own.map((run) => mendOne(run, body))).then(() => {
    if (own !== runs) return;
    const done = own.filter((run) => run.recovery);
    const best = done.flatMap((run) => run.recovery?.flight.reconnected_at_s ?? []);
    say(best.length ? `Whole again after ${Math.min(...best).toFixed(2)} s at best. Drag the time line, or press play.` : "No planner reconnected the swarm.", !best.length);
    showWhy();
    listTaken();
    if (done.length && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      stage.setTime(0);
      stage.playing = true;
    }
  });
}

/**
 * @param {Run} run
 * @param {Object<string, any>} body
 */
async function mendOne(run, body) {
  if (!run.abort) return;
  try {
    run.recovery = await runJob("/v1/recoveries", { ...body, planner: run.planner }, ({ fraction, message, preview }) => {
      run.fraction = fraction;
      run.message = message;
      if (preview) {
        run.preview = preview;
        run.history.push({ ...preview, targets_m: null });
      }
      stage.updateRun(run);
    }, run.abort.signal);
  } catch (error) {
    const isCancelled = error instanceof DOMException && error.name === "AbortError";
    run.problem = isCancelled ? "Cancelled." : error instanceof Error ? error.message : String(error);
    if (error instanceof ServiceProblem && (error.status === 0 || error.status === 401)) complain(error);
  }
  run.abort = null;
  stage.updateRun(run);
}

/** Put the proof of the best bound into words. */
function showWhy() {
  if (!scenario) return;
  const own = scenario;
  const certificates = runs.flatMap((run) => (run.recovery?.plan ? [run.recovery.plan.certificate] : []));
  certificates.sort((a, b) => b.bound_s - a.bound_s);
  proofs = certificates.length ? explain(own, certificates[0]) : [];
  proofStep = -1;
  byId("why-text", HTMLElement).textContent = proofs[0]?.text ?? "Mend a swarm with a planner that plans, and the proof of its bound is shown here.";
  byId("why-show", HTMLButtonElement).disabled = !proofs.length;
}

/** Draw the next step of the proof on the map. */
function nextProof() {
  if (!proofs.length) return;
  proofStep = (proofStep + 1) % proofs.length;
  byId("why-text", HTMLElement).textContent = proofs[proofStep].text;
  showSwarm();
  byId("why-show", HTMLElement).textContent = proofs.length > 1 ? `Show the next (${proofStep + 1} of ${proofs.length})` : "Show it on the map";
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Panel} panel
 */
function drawOver(ink, panel) {
  if (!panel.run && scenario && proofStep >= 0 && proofs[proofStep]) drawProof(ink, stage.camera, scenario, proofs[proofStep]);
  if (!panel.run && scenario) {
    const hops = Number(byId("branch", HTMLInputElement).value) || 0;
    const text = byId("branch-text", HTMLElement);
    text.hidden = hops < 1;
    if (hops >= 1) {
      const count = drawBranch(ink, stage.camera, scenario, hops);
      text.textContent = `Branch k = ${hops} joins ${count} pairs of a survivor and a destroyed UAV: those at most ${hops} hops apart before the damage.`;
    }
    if (byId("show-critical", HTMLInputElement).checked) drawCritical(ink, stage.camera, scenario);
  }
  editor.overlay(ink, panel);
}

stage.overlay = drawOver;
stage.onCancel = (/** @type {Run} */ run) => run.abort?.abort();
stage.onContinue = continueFrom;

/**
 * The survivors as they are at an instant of a flight become a new swarm to break.
 * @param {Recovery} recovery
 * @param {number} time
 */
function continueFrom(recovery, time) {
  if (!scenario) return;
  const panel = stage.panels.find((one) => one.run?.recovery === recovery);
  if (!panel?.view) return;
  const { points } = panel.view.at(time);
  const dim = dimension(scenario);
  const ids = survivorsOf(scenario);
  const speed = scenario.max_speed_mps;
  const place = new Map(ids.map((id, row) => [id, row]));
  change({
    ...scenario,
    positions_m: ids.map((_, row) => [...points.slice(row * dim, row * dim + dim)]),
    destroyed: [],
    names: scenario.names ? ids.map((id) => /** @type {string[]} */ (scenario?.names)[id]) : null,
    anchors: (scenario.anchors ?? []).flatMap((id) => place.get(id) ?? []),
    max_speed_mps: Array.isArray(speed) ? ids.map((id) => speed[id]) : speed,
  }, `the swarm at ${time.toFixed(2)} s; strike it again`, null, true);
}

async function generate() {
  const request = readGeneration();
  say("Generating …");
  const response = await post("/v1/scenarios", request);
  change(await response.json(), "generated", request, true);
}

/** @param {File} file */
async function openFile(file) {
  if (!/\.(json|csv)$/i.test(file.name)) throw new Error(`${file.name.slice(0, 60)}: its name must end in .json or .csv`);
  const next = readScenario(await file.text(), file.name);
  change(next, `opened ${file.name.slice(0, 60)}`, null, true);
}

/** @param {number} count */
function strikeCritical(count) {
  if (!scenario) return;
  const dim = dimension(scenario);
  const ids = survivorsOf(scenario);
  const own = scenario;
  const links = findLinks(flat(ids.map((id) => own.positions_m[id]), dim), dim, scenario.radio_range_m);
  const worst = byImportance(ids.length, links).slice(0, count).map((row) => ids[row]);
  change(withDestroyed(scenario, [...scenario.destroyed, ...worst]), "struck the most critical", null);
}

/** @param {number} share */
function strikeRandom(share) {
  if (!scenario) return;
  const ids = survivorsOf(scenario);
  const next = randomStream(planSeed() + past.length);
  for (let i = ids.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [ids[i], ids[j]] = [ids[j], ids[i]];
  }
  change(withDestroyed(scenario, [...scenario.destroyed, ...ids.slice(0, Math.round(share * ids.length))]), "random losses", null);
}

async function share() {
  if (!scenario) return;
  const fragment = await shareFragment(scenario, chosenPlanners(), planSeed());
  if (fragment === null) {
    saveScenario();
    say("This swarm is too large for a link; it was saved as a file instead.");
    return;
  }
  history.replaceState(null, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is in the clipboard; the address bar shows it too.");
  } catch {
    say("The address bar now holds the link to this view.");
  }
}

function saveScenario() {
  if (!scenario) return;
  const text = JSON.stringify({ format: "reknit-scenario", version: 1, ...scenario }, null, 1);
  download(new Blob([text], { type: "application/json" }), "scenario.json");
}

/** The run whose plan and flight are taken away. */
function takenRun() {
  const run = runs[Number(byId("taken-run", HTMLSelectElement).value) || 0];
  if (!run?.recovery) throw new Error("There is no recovery yet: mend the swarm first.");
  return run.recovery;
}

function savePlan() {
  const { plan, planner } = takenRun();
  if (!plan) throw new Error(`${planner.slice(0, 60)} steers and has no plan; choose another run.`);
  download(new Blob([JSON.stringify(plan, null, 1)], { type: "application/json" }), `plan-${fileName(planner)}.json`);
}

function saveFlight() {
  if (!scenario) return;
  const recovery = takenRun();
  download(new Blob([flightTable(scenario, recovery)], { type: "text/csv" }), `flight-${fileName(recovery.planner)}.csv`);
}

/** @param {string} planner */
function fileName(planner) {
  return planner.replaceAll(/[^\w.-]+/g, "-");
}

function listTaken() {
  const list = byId("taken-run", HTMLSelectElement);
  list.replaceChildren(...runs.map((run, k) => make("option", { value: k, text: run.planner, disabled: !run.recovery })));
  list.disabled = !runs.some((run) => run.recovery);
  list.value = String(Math.max(0, runs.findIndex((run) => run.recovery?.plan)));
}

function showCommands() {
  if (!scenario) return;
  const text = commands(chosenPlanners(), planSeed(), planBudget(), origin);
  byId("python", HTMLElement).textContent = text.python;
  byId("shell", HTMLElement).textContent = text.shell;
  byId("commands-dialog", HTMLDialogElement).showModal();
}

/** @param {string} id @param {() => void | Promise<void>} action */
function onClick(id, action) {
  byId(id, HTMLElement).addEventListener("click", () => {
    try {
      void Promise.resolve(action()).catch(complain);
    } catch (error) {
      complain(error);
    }
  });
}

function wire() {
  onClick("generate", generate);
  onClick("open", () => byId("file", HTMLInputElement).click());
  byId("file", HTMLInputElement).addEventListener("change", (event) => {
    const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
    if (file) void openFile(file).catch(complain);
  });
  onClick("apply-demands", () => {
    if (scenario) change({ ...scenario, ...readDemands() }, "demands set", null);
  });
  onClick("strike-critical", () => strikeCritical(Math.max(1, Number(byId("critical-count", HTMLInputElement).value) || 1)));
  onClick("strike-random", () => strikeRandom(Math.min(0.99, Math.max(0, Number(byId("random-share", HTMLInputElement).value) / 100))));
  onClick("heal", () => {
    if (scenario) change(withDestroyed(scenario, []), "everybody lives", null);
  });
  onClick("undo", () => {
    const before = past.pop();
    if (!before) return;
    scenario = null;
    change(before, "undone", null);
  });
  onClick("mend", mend);
  onClick("mend-now", mend);
  onClick("show-swarm", showSwarm);
  onClick("show-runs", showRuns);
  onClick("why-show", nextProof);
  onClick("share", share);
  onClick("save-scenario", saveScenario);
  onClick("save-plan", savePlan);
  onClick("save-flight", saveFlight);
  onClick("save-table", () => {
    if (scenario) download(new Blob([scenarioTable(scenario)], { type: "text/csv" }), "scenario.csv");
  });
  onClick("save-png", async () => download(await viewPng(stage), "reknit.png"));
  onClick("save-svg", () => download(viewSvg(stage), "reknit.svg"));
  onClick("save-film", async () => {
    if (!stage.panels.some((panel) => panel.view)) throw new Error("There is no flight yet: mend the swarm first.");
    say("Filming …");
    download(await viewFilm(stage), "reknit.webm");
    say("The film is saved.");
  });
  onClick("show-commands", showCommands);
  onClick("help", () => byId("help-dialog", HTMLDialogElement).showModal());
  onClick("theme", () => {
    document.documentElement.dataset.theme = currentMode() === "dark" ? "light" : "dark";
    stage.draw();
  });
  onClick("token-save", () => {
    rememberToken(byId("token", HTMLInputElement).value.trim());
    byId("token-dialog", HTMLDialogElement).close();
    return begin();
  });
  for (const button of document.querySelectorAll("dialog .close")) {
    button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => {
      const text = byId(/** @type {HTMLElement} */ (button).dataset.copy ?? "", HTMLElement).textContent ?? "";
      void navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser did not allow copying.", true));
    });
  }
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-tool]"))) {
    button.addEventListener("click", () => chooseTool(/** @type {Tool} */ (button.dataset.tool)));
  }
  for (const id of ["branch", "show-critical"]) byId(id, HTMLElement).addEventListener("input", showSwarm);
  const brush = byId("brush", HTMLInputElement);
  brush.addEventListener("input", () => {
    editor.brush = Number(brush.value);
    stage.draw();
  });
  document.addEventListener("keydown", shortcut);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void openFile(file).catch(complain);
  });
  window.addEventListener("hashchange", () => void openLink().catch(complain));
  matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => stage.draw());
}

/** @param {Tool} tool */
function chooseTool(tool) {
  editor.tool = tool;
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-tool]"))) {
    button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  }
  stage.grid.dataset.tool = tool;
  stage.draw();
}

/** @param {KeyboardEvent} event */
function shortcut(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.altKey || target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z") byId("undo", HTMLElement).click();
  else if (event.ctrlKey || event.metaKey) return;
  else if (event.key === "k") stage.togglePlay();
  else if (event.key === "m") mend();
  else if (event.key === "g") byId("generate", HTMLElement).click();
  else if (event.key === ",") stage.setTime(stage.time - 0.1);
  else if (event.key === ".") stage.setTime(stage.time + 0.1);
  else if (event.key === "?") byId("help", HTMLElement).click();
  else return;
  event.preventDefault();
}

function listPlanners() {
  const wanted = new Set(["certified", "ml-dagl", "hero"]);
  const rows = planners.map((row) => {
    const box = make("input", { type: "checkbox", value: row.name, id: `planner-${row.name}`, checked: wanted.has(row.name) && row.ready, disabled: !row.ready });
    return make("label", { class: "planner", title: row.summary }, box, make("span", { text: row.name }));
  });
  byId("planners", HTMLElement).replaceChildren(...rows);
}

/** @returns {Promise<boolean>} Whether the address held a view. */
async function openLink() {
  const view = await readFragment(location.hash);
  if (!view) return false;
  for (const row of planners) {
    byId(`planner-${row.name}`, HTMLInputElement).checked = view.planners.includes(row.name) && row.ready;
  }
  byId("own-planner", HTMLInputElement).value = view.planners.find((name) => !planners.some((row) => row.name === name)) ?? "";
  byId("plan-seed", HTMLInputElement).value = String(view.seed);
  change(view.scenario, "opened the link", null, true);
  return true;
}

async function begin() {
  const [listed, description] = await Promise.all([getJson("/v1/planners"), getJson("/v1/openapi.json")]);
  planners = listed.planners;
  schemas = description.components.schemas;
  listPlanners();
  const { properties } = schemas.GenerationRequest;
  const readUsual = form(byId("generation", HTMLElement), properties, FIRST, (name) => USUAL.has(name));
  const readMore = form(byId("generation-more", HTMLElement), properties, FIRST, (name) => !USUAL.has(name));
  readGeneration = () => ({ ...readUsual(), ...readMore() });
  let opened = false;
  try {
    opened = await openLink();
  } catch {
    say("The link holds no view that can be opened; here is another swarm.", true);
  }
  if (!opened) await generate();
}

wire();
chooseTool("click");
setView("swarm");
void begin().catch(complain);
// What tests and curious people may look at; nothing here is needed by the page itself.
Object.assign(window, { reknit: { stage, editor, get scenario() { return scenario; }, get runs() { return runs; } } });
