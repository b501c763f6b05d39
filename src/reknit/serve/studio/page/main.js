/** The studio: make a swarm, break it, mend it, see why, take it away. */

import { ServiceProblem, getJson, post, rememberToken } from "./api.js";
import { byId, currentMode, make } from "./dom.js";
import { Editor } from "./editor.js";
import { demandForm, form } from "./forms.js";
import { mendOne } from "./mending.js";
import { byImportance, findLinks, networkOf, randomStream } from "./network.js";
import { dimension, flat, readFragment, readScenario, survivorsOf, withDestroyed } from "./scenario.js";
import { Stage } from "./stage.js";
import { describeStrikes, drawStrikes, leftBy, readStrikes, strikesAfter, withStrike } from "./strikes.js";
import { TakeAway } from "./takeaway.js";
import { drawBranch, drawCritical, drawProof, explain } from "./why.js";

/** @import { Recovery, Run, Scenario, Strike } from "./types.js" */
/** @import { Proof } from "./why.js" */
/** @import { Tool } from "./editor.js" */
/** @import { Panel } from "./stage.js" */

const MOST_PANELS = 6;
const NUMBERS_PER_FLIGHT = 400000;
/** Survivors up to which a flight that strikes interrupt is asked for with every step. */
const MOST_WHOLE = 2000;
const FIRST = { uavs: 150, destroyed: 0.6, seed: 5, damage: "random", split: true };
const USUAL = new Set(["uavs", "destroyed", "seed", "layout", "damage"]);

const stage = new Stage(byId("grid", HTMLElement), byId("timeline", HTMLElement), byId("chart", HTMLCanvasElement));
const editor = new Editor(stage, byId("tip", HTMLElement), (scenario, what) => (what === "strike" ? strike(scenario, what) : change(scenario, what, null)));

/** @type {Scenario | null} */
let scenario = null;
/** @type {Object<string, any> | null} */
let origin = null;
/** @type {Strike[]} Those that come while the swarm flies. */
let strikes = [];
/** @type {{scenario: Scenario, strikes: Strike[]}[]} */
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

const takeAway = new TakeAway(stage, () => ({
  scenario, runs, strikes, origin, planners: chosenPlanners(), seed: planSeed(), budget: planBudget(),
}), say);

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
 * @param {Strike[]} [later] The strikes to come; if not given, those that are left.
 */
function change(next, what, made, refit = false, later = undefined) {
  if (scenario && (scenario !== next || later)) past.push({ scenario, strikes });
  if (past.length > 100) past.shift();
  strikes = later ?? strikesAfter(strikes, scenario, next);
  scenario = next;
  origin = made;
  stopRuns();
  runs = [];
  takeAway.list();
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
  const more = strikes.length ? ` To come: ${describeStrikes(strikes)}.` : "";
  const text = `${scenario.positions_m.length} UAVs, ${scenario.destroyed.length} destroyed, ${ids.length} survive: ${pieces}.${more}`;
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
  // A strike finds the swarm where it is at that instant, so every step counts where there is room.
  const isWhole = strikes.length > 0 && survivors <= MOST_WHOLE;
  const body = { scenario, seed, frames: isWhole ? null : frames, budget_s: planBudget() };
  const mended = own.map((run) => mendOne(run, body, strikes, () => stage.updateRun(run)));
  void Promise.all(mended).then((faults) => {
    const away = faults.find((fault) => fault instanceof ServiceProblem && (fault.status === 0 || fault.status === 401));
    if (away) complain(away);
    if (own !== runs || away) return;
    const done = own.filter((run) => run.recovery);
    const best = done.flatMap((run) => run.recovery?.flight.reconnected_at_s ?? []);
    say(best.length ? `Whole again after ${Math.min(...best).toFixed(2)} s at best. Drag the time line, or press play.` : "No planner reconnected the swarm.", !best.length);
    showWhy();
    takeAway.list();
    if (done.length && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      stage.setTime(0);
      stage.playing = true;
    }
  });
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
    drawStrikes(ink, stage.camera, scenario, strikes);
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
  const ids = survivorsOf(panel.view.scenarioAt(time));
  const speed = scenario.max_speed_mps;
  const place = new Map(ids.map((id, row) => [id, row]));
  change({
    ...scenario,
    positions_m: ids.map((_, row) => [...points.slice(row * dim, row * dim + dim)]),
    destroyed: [],
    names: scenario.names ? ids.map((id) => /** @type {string[]} */ (scenario?.names)[id]) : null,
    anchors: (scenario.anchors ?? []).flatMap((id) => place.get(id) ?? []),
    max_speed_mps: Array.isArray(speed) ? ids.map((id) => speed[id]) : speed,
  }, `the swarm at ${time.toFixed(2)} s; strike it again`, null, true, []);
}

async function generate() {
  const request = readGeneration();
  say("Generating …");
  const response = await post("/v1/scenarios", request);
  change(await response.json(), "generated", request, true, []);
}

/** @param {File} file */
async function openFile(file) {
  if (!/\.(json|csv)$/i.test(file.name)) throw new Error(`${file.name.slice(0, 60)}: its name must end in .json or .csv`);
  const next = readScenario(await file.text(), file.name);
  change(next, `opened ${file.name.slice(0, 60)}`, null, true, []);
}

/** When what is struck is lost, seconds after the damage. */
function strikeTime() {
  return Math.max(0, Number(byId("strike-time", HTMLInputElement).value) || 0);
}

/**
 * Lose UAVs now, or later if a time is given.
 * @param {Scenario} next
 * @param {string} what
 */
function strike(next, what) {
  const time_s = strikeTime();
  const before = new Set(scenario?.destroyed);
  const fresh = next.destroyed.filter((id) => !before.has(id));
  if (scenario && time_s > 0 && fresh.length) change(scenario, `${what} after ${time_s} s`, origin, false, withStrike(strikes, time_s, fresh));
  else change(next, what, null);
}

/** @param {number} count */
function strikeCritical(count) {
  if (!scenario) return;
  const dim = dimension(scenario);
  const ids = leftBy(scenario, strikes, strikeTime());
  const own = scenario;
  const links = findLinks(flat(ids.map((id) => own.positions_m[id]), dim), dim, scenario.radio_range_m);
  const worst = byImportance(ids.length, links).slice(0, count).map((row) => ids[row]);
  strike(withDestroyed(scenario, [...scenario.destroyed, ...worst]), "struck the most critical");
}

/** @param {number} share */
function strikeRandom(share) {
  if (!scenario) return;
  const ids = leftBy(scenario, strikes, strikeTime());
  const next = randomStream(planSeed() + past.length);
  for (let i = ids.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [ids[i], ids[j]] = [ids[j], ids[i]];
  }
  strike(withDestroyed(scenario, [...scenario.destroyed, ...ids.slice(0, Math.round(share * ids.length))]), "random losses");
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
    if (scenario) change(withDestroyed(scenario, []), "everybody lives", null, false, []);
  });
  onClick("undo", () => {
    const before = past.pop();
    if (!before) return;
    scenario = null;
    change(before.scenario, "undone", null, false, before.strikes);
  });
  onClick("mend", mend);
  onClick("mend-now", mend);
  onClick("show-swarm", showSwarm);
  onClick("show-runs", showRuns);
  onClick("why-show", nextProof);
  for (const [id, action] of Object.entries(takeAway.actions)) onClick(id, action);
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
  byId("brush", HTMLElement).parentElement?.toggleAttribute("hidden", tool !== "disc" && tool !== "corridor");
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
  byId("budget", HTMLInputElement).value = view.budget === null ? "" : String(view.budget);
  change(view.scenario, "opened the link", null, true, readStrikes(view.strikes, view.scenario));
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
