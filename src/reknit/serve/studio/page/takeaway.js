/** The buttons of "Take away": links, pictures, files and commands. */

import { byId, download, make } from "./dom.js";
import { commands, flightTable, scenarioTable, viewFilm, viewPng, viewSvg } from "./exports.js";
import { shareFragment } from "./scenario.js";

/** @import { Stage } from "./stage.js" */
/** @import { Run, Scenario, Strike } from "./types.js" */

/**
 * What is in front of the user.
 * @typedef {{scenario: Scenario | null, runs: Run[], strikes: Strike[], planners: string[],
 *   seed: number, budget: number | null, origin: Object<string, any> | null}} Present
 *   `origin` is the request that generated the scenario, if it is untouched.
 */

export class TakeAway {
  /**
   * @param {Stage} stage
   * @param {() => Present} present
   * @param {(text: string) => void} say
   */
  constructor(stage, present, say) {
    this.stage = stage;
    this.present = present;
    this.say = say;
  }

  /** What each button does. @returns {Object<string, () => void | Promise<void>>} */
  get actions() {
    return {
      "share": () => this.share(),
      "show-commands": () => this.showCommands(),
      "save-scenario": () => this.saveScenario(),
      "save-scenario-too": () => this.saveScenario(),
      "save-table": () => this.saveTable(),
      "save-plan": () => this.savePlan(),
      "save-flight": () => this.saveFlight(),
      "save-png": async () => download(await viewPng(this.stage), "reknit.png"),
      "save-svg": () => download(viewSvg(this.stage), "reknit.svg"),
      "save-film": () => this.saveFilm(),
    };
  }

  /** The scenario; there is one as soon as the page has begun. */
  get scenario() {
    const { scenario } = this.present();
    if (!scenario) throw new Error("There is no swarm yet.");
    return scenario;
  }

  async share() {
    const { planners, seed, budget, strikes } = this.present();
    const fragment = await shareFragment(this.scenario, planners, { seed, budget, strikes });
    if (fragment === null) {
      this.saveScenario();
      this.say("This swarm is too large for a link; it was saved as a file instead.");
      return;
    }
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is in the clipboard; the address bar shows it too.");
    } catch {
      this.say("The address bar now holds the link to this view.");
    }
  }

  saveScenario() {
    const text = JSON.stringify({ format: "reknit-scenario", version: 1, ...this.scenario }, null, 1);
    download(new Blob([text], { type: "application/json" }), "scenario.json");
  }

  saveTable() {
    download(new Blob([scenarioTable(this.scenario)], { type: "text/csv" }), "scenario.csv");
  }

  /** The run whose plan and flight are taken away. */
  get taken() {
    const run = this.present().runs[Number(byId("taken-run", HTMLSelectElement).value) || 0];
    if (!run?.recovery) throw new Error("There is no recovery yet: mend the swarm first.");
    return run.recovery;
  }

  savePlan() {
    const { plan, planner } = this.taken;
    if (!plan) throw new Error(`${planner.slice(0, 60)} steers and has no plan; choose another run.`);
    download(new Blob([JSON.stringify(plan, null, 1)], { type: "application/json" }), `plan-${fileName(planner)}.json`);
  }

  saveFlight() {
    const recovery = this.taken;
    download(new Blob([flightTable(this.scenario, recovery)], { type: "text/csv" }), `flight-${fileName(recovery.planner)}.csv`);
  }

  async saveFilm() {
    if (!this.stage.panels.some((panel) => panel.view)) throw new Error("There is no flight yet: mend the swarm first.");
    this.say("Filming …");
    download(await viewFilm(this.stage), "reknit.webm");
    this.say("The film is saved.");
  }

  /** Offer the runs whose plan and flight can be taken. */
  list() {
    const { runs } = this.present();
    const list = byId("taken-run", HTMLSelectElement);
    list.replaceChildren(...runs.map((run, k) => make("option", { value: k, text: run.planner, disabled: !run.recovery })));
    list.disabled = !runs.some((run) => run.recovery);
    list.value = String(Math.max(0, runs.findIndex((run) => run.recovery?.plan)));
  }

  showCommands() {
    const { planners, seed, budget, origin, strikes } = this.present();
    const text = commands(planners, seed, budget, origin, this.scenario, strikes);
    byId("python", HTMLElement).textContent = text.python;
    byId("shell", HTMLElement).textContent = text.shell;
    const first = origin ? "" : "Both read scenario.json: save it where they run.";
    const page = strikes.length ? "" : "The page compare/index.html that the command writes shows these runs again.";
    byId("commands-hint", HTMLElement).textContent = `${first} ${page}`.trim();
    byId("save-scenario-too", HTMLElement).hidden = origin !== null;
    byId("commands-dialog", HTMLDialogElement).showModal();
  }
}

/** @param {string} planner */
function fileName(planner) {
  return planner.replaceAll(/[^\w.-]+/g, "-");
}
