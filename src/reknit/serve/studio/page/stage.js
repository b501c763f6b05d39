/** The panels side by side, the time line under them, and the chart of sub-nets. */

import { Camera } from "./camera.js";
import { drawChart, drawInstant, drawLive } from "./chart.js";
import { currentMode, inkOf, make } from "./dom.js";
import { linkSet, markRadius, pictureOf, projectAll } from "./draw.js";
import { findLinks } from "./network.js";
import { paintSwarm } from "./paint.js";
import { PhasedView, viewOf } from "./phases.js";
import { dimension, flat, nameOf, speedOf, survivorsOf } from "./scenario.js";

/** @import { Picture } from "./draw.js" */
/** @import { FlightView } from "./flight.js" */
/** @import { Preview, Recovery, Run, Scenario } from "./types.js" */

/**
 * @typedef {{figure: HTMLElement, canvas: HTMLCanvasElement, caption: HTMLElement,
 *   facts: HTMLElement, view: FlightView | PhasedView | null, run: Run | null, picture: Picture | null,
 *   shown: Preview | null}} Panel
 */

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

export class Stage {
  /**
   * @param {HTMLElement} grid
   * @param {HTMLElement} timeline
   * @param {HTMLCanvasElement} chart
   */
  constructor(grid, timeline, chart) {
    this.grid = grid;
    this.timeline = timeline;
    this.chart = chart;
    this.camera = new Camera();
    /** @type {Scenario | null} */
    this.scenario = null;
    /** @type {Panel[]} */
    this.panels = [];
    this.time = 0;
    this.speed = 1;
    this.playing = false;
    this.isWhole = false;
    this.isDirty = true;
    this.lastMs = 0;
    /** @type {((ink: CanvasRenderingContext2D, panel: Panel) => void) | null} */
    this.overlay = null;
    /** @type {((run: Run) => void) | null} */
    this.onCancel = null;
    /** @type {((recovery: Recovery, time: number) => void) | null} */
    this.onContinue = null;
    this.frameMs = 0;
    this.chartKept = document.createElement("canvas");
    this.chartStamp = "";
    /** @type {Panel | null} Of the runs that the kept chart is about. */
    this.chartOwner = null;
    this.buildTimeline();
    new ResizeObserver(() => this.draw()).observe(grid);
    requestAnimationFrame((now) => this.tick(now));
  }

  buildTimeline() {
    this.playButton = make("button", { class: "round", id: "play", "aria-label": "Play", title: "Play or pause (K)", text: "▶", onclick: () => this.togglePlay() });
    const slider = make("input", { type: "range", id: "time", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time of the flight in seconds" });
    slider.addEventListener("input", () => {
      this.playing = false;
      this.setTime(Number(slider.value));
    });
    this.slider = slider;
    this.clock = make("output", { class: "clock", for: "time", text: "0.00 s" });
    const speed = make("select", { id: "speed", "aria-label": "Speed of the replay" },
      ...SPEEDS.map((x) => make("option", { value: x, text: `${x}×`, selected: x === 1 })));
    speed.addEventListener("change", () => (this.speed = Number(speed.value)));
    const whole = make("input", { type: "checkbox", id: "whole" });
    whole.addEventListener("change", () => {
      this.isWhole = whole.checked;
      this.setTime(this.time);
    });
    const label = make("label", { class: "whole", title: "Also what those do that never reconnect" }, whole, "to the very end");
    this.timeline.replaceChildren(this.playButton, this.slider, this.clock, speed, label);
  }

  /**
   * Show one swarm, without runs.
   * @param {Scenario} scenario
   * @param {boolean} refit
   */
  showScenario(scenario, refit) {
    this.scenario = scenario;
    const panel = this.panels.length === 1 && !this.panels[0].run ? this.panels[0] : this.newPanel(null);
    panel.caption.replaceChildren();
    panel.facts.replaceChildren();
    if (this.panels.length !== 1 || this.panels[0] !== panel) {
      this.panels = [panel];
      this.grid.replaceChildren(panel.figure);
    }
    this.grid.dataset.count = "1";
    const dim = dimension(scenario);
    const ids = survivorsOf(scenario);
    const points = flat(ids.map((id) => scenario.positions_m[id]), dim);
    const lost = flat(scenario.destroyed.map((id) => scenario.positions_m[id]), dim);
    panel.picture = pictureOf(points, dim, scenario.radio_range_m, lost);
    const anchored = new Set(scenario.anchors ?? []);
    panel.picture.anchors = new Set(ids.flatMap((id, row) => (anchored.has(id) ? [row] : [])));
    if (refit || this.camera.dim !== dim) this.camera.fit(scenario.positions_m, dim);
    this.timeline.hidden = this.chart.hidden = true;
    this.playing = false;
    this.draw();
  }

  /**
   * Show runs side by side on one time line.
   * @param {Scenario} scenario
   * @param {Run[]} runs
   */
  showRuns(scenario, runs) {
    this.scenario = scenario;
    this.panels = runs.map((run) => this.newPanel(run));
    this.grid.replaceChildren(...this.panels.map((panel) => panel.figure));
    this.grid.dataset.count = String(runs.length);
    this.timeline.hidden = this.chart.hidden = false;
    this.camera.fit(scenario.positions_m, dimension(scenario));
    this.time = 0;
    for (const run of runs) this.updateRun(run);
  }

  /**
   * @param {Run | null} run
   * @returns {Panel}
   */
  newPanel(run) {
    const name = run ? run.planner : "the damaged swarm";
    const canvas = make("canvas", { tabindex: run ? null : "0", role: "img", "aria-label": `Map of ${name}` });
    const caption = make("figcaption", {});
    const facts = make("div", { class: "facts" });
    const figure = make("figure", { class: "panel" }, caption, canvas, facts);
    return { figure, canvas, caption, facts, view: null, run, picture: null, shown: null };
  }

  /**
   * Something of a run is new: its progress, its result or its fault.
   * @param {Run} run
   */
  updateRun(run) {
    const panel = this.panels.find((one) => one.run === run);
    if (!panel || !this.scenario) return;
    if (run.recovery && !panel.view) {
      panel.view = viewOf(this.scenario, run.recovery);
      this.slider?.setAttribute("max", String(this.end));
    }
    this.describe(panel);
    this.draw();
  }

  /** @param {Panel} panel */
  describe(panel) {
    const run = panel.run;
    if (!run) return;
    const number = this.panels.indexOf(panel);
    const swatch = make("span", { class: `swatch c${number}` });
    const title = make("strong", { text: run.planner });
    panel.caption.replaceChildren(swatch, title);
    const recovery = run.recovery;
    if (run.problem) {
      panel.caption.append(make("span", { class: "chip bad", text: "no result" }));
      panel.facts.replaceChildren(make("p", { class: "problem", text: run.problem }));
      return;
    }
    if (!recovery) {
      panel.facts.replaceChildren(
        make("progress", { max: 1, value: run.fraction, "aria-label": `${run.planner} works` }),
        make("span", { class: "message", text: run.message }),
        make("button", { text: "Cancel", onclick: () => this.onCancel?.(run) }),
      );
      return;
    }
    const { plan, metrics, flight } = recovery;
    const at = flight.reconnected_at_s;
    const plans = (recovery.phases ?? [{ recovery }]).flatMap((phase) => phase.recovery.plan ?? []);
    const gaps = plans.flatMap((one) => one.gap ?? []);
    const status = plan && !recovery.phases ? plan.status : at === null ? "not connected" : "reconnected";
    const good = at !== null;
    panel.caption.append(make("span", { class: `chip ${good ? "good" : "bad"}`, text: status }));
    /** @type {[string, string, string][]} */
    const facts = [
      ["flown", at === null ? "never" : `${at.toFixed(2)} s`, "First instant at which the swarm is whole"],
      ["planned", plan ? `${plans.map((one) => one.recovery_time_s.toFixed(2)).join(", then ")} s` : "steers", "Longest displacement over speed, anew after every strike"],
      ["gap", gaps.length ? percent(Math.max(...gaps)) : "–", "Planned time above the proved bound, at most"],
      ["links/UAV", `${number2(metrics.mean_degree)} (≤${metrics.max_degree})`, "Mean and largest degree at the end"],
      ["energy, as path", metres(metrics.path_length_m), "Metres flown by all UAVs together, which is what costs energy"],
      ["closest", metrics.min_separation_m === null ? "–" : metres(metrics.min_separation_m), "Smallest distance between two UAVs at any time"],
      ["computing", recovery.compute_s >= 1 ? `${recovery.compute_s.toFixed(1)} s` : `${(recovery.compute_s * 1000).toFixed(0)} ms`, "Time the planner took"],
    ];
    const list = make("dl", {});
    for (const [name, value, meaning] of facts) {
      list.append(make("div", { title: meaning }, make("dt", { text: name }), make("dd", { text: value })));
    }
    panel.facts.replaceChildren(list);
    if (this.onContinue) {
      panel.facts.append(make("button", {
        class: "small", text: "Strike again from here", title: "Take the swarm as it is at this instant and break it once more",
        onclick: () => this.onContinue?.(recovery, this.time),
      }));
    }
  }

  /** End of the time line: a while after the last reconnection, or the last instant flown. */
  get end() {
    const views = this.panels.flatMap((panel) => panel.view ?? []);
    const whole = views.flatMap((view) => view.recovery.flight.reconnected_at_s ?? []);
    const last = Math.max(0, ...views.map((view) => view.end));
    const end = whole.length && !this.isWhole ? Math.min(last, Math.max(...whole) * 1.4) : last;
    return Math.max(end * 1.02, (this.bound ?? 0) * 1.05, 0.1);
  }

  /** The best proved bound of the runs. @returns {number | null} */
  get bound() {
    const bounds = this.panels.flatMap((panel) => (panel.run?.recovery?.plan ? [panel.run.recovery.plan.lower_bound_s] : []));
    const bound = bounds.length ? Math.max(...bounds) : null;
    // After a strike the swarm is another, and the bound of the first is none of it.
    return bound !== null && this.strikeTimes.some((time) => time < bound) ? null : bound;
  }

  /** When strikes interrupt the flights. @returns {number[]} */
  get strikeTimes() {
    const phases = this.panels.flatMap((panel) => panel.run?.recovery?.phases ?? []);
    return [...new Set(phases.map((phase) => phase.begin))].filter((time) => time > 0);
  }

  /** @param {number} time */
  setTime(time) {
    this.time = Math.min(this.end, Math.max(0, time));
    this.draw();
  }

  togglePlay() {
    if (!this.panels.some((panel) => panel.view)) return;
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end - 1e-6) this.time = 0;
    this.draw();
  }

  draw() {
    this.isDirty = true;
  }

  /** @param {number} now */
  tick(now) {
    const seconds = Math.min(0.1, (now - this.lastMs) / 1000);
    this.lastMs = now;
    if (this.playing) {
      this.time = Math.min(this.end, this.time + seconds * this.speed);
      if (this.time >= this.end) this.playing = false;
      this.isDirty = true;
    }
    if (this.isDirty) {
      this.isDirty = false;
      const began = performance.now();
      this.paint();
      this.frameMs = performance.now() - began;
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  paint() {
    const mode = currentMode();
    for (const panel of this.panels) {
      const { clientWidth: width, clientHeight: height } = panel.canvas;
      if (!width || !height) continue;
      if (this.camera.width !== width || this.camera.height !== height) this.camera.resize(width, height);
      const ink = inkOf(panel.canvas, width, height);
      const picture = this.pictureNow(panel);
      if (!picture) {
        ink.clearRect(0, 0, width, height);
        continue;
      }
      panel.picture = picture;
      paintSwarm(ink, this.camera, picture, mode, panel.canvas.width / width);
      if (panel.run) drawCount(ink, picture.network.count, mode);
      if (panel.run && !panel.view) drawLive(ink, width, height, panel.run.history, mode);
      this.overlay?.(ink, panel);
    }
    if (!this.timeline.hidden) this.paintTime(mode);
  }

  /**
   * @param {Panel} panel
   * @returns {Picture | null}
   */
  pictureNow(panel) {
    if (panel.view) return panel.view.picture(this.time);
    if (panel.run && this.scenario) {
      const { scenario } = this;
      const { run } = panel;
      if (!panel.picture || panel.shown !== run.preview) {
        panel.picture = previewOf(scenario, run.preview);
        panel.shown = run.preview;
      }
    }
    return panel.picture;
  }

  /** @param {"dark" | "light"} mode */
  paintTime(mode) {
    const ready = this.panels.some((panel) => panel.view);
    if (this.playButton) {
      this.playButton.textContent = this.playing ? "❚❚" : "▶";
      this.playButton.setAttribute("aria-label", this.playing ? "Pause" : "Play");
      this.playButton.disabled = !ready;
    }
    if (this.slider) {
      this.slider.max = String(this.end);
      this.slider.value = String(this.time);
      this.slider.disabled = !ready;
    }
    if (this.clock) this.clock.textContent = `${this.time.toFixed(2)} s`;
    const { clientWidth: width, clientHeight: height } = this.chart;
    if (!width || !height) return;
    const chart = this.chartData(width, height);
    const ink = inkOf(this.chart, width, height);
    const stamp = [this.chart.width, width, height, mode, chart.end, chart.bound, chart.lines.map((line) => line.times.length)].join(" ");
    if (stamp !== this.chartStamp || !this.panels.includes(/** @type {Panel} */ (this.chartOwner))) {
      // Its lines are the same from frame to frame; only the instant moves.
      drawChart(inkOf(this.chartKept, width, height), chart, mode);
      this.chartStamp = stamp;
      this.chartOwner = this.panels[0];
    }
    ink.drawImage(this.chartKept, 0, 0, width, height);
    drawInstant(ink, chart, mode);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  chartData(width, height) {
    return {
      width, height, end: this.end, time: this.time, bound: this.bound, strikes: this.strikeTimes,
      lines: this.panels.map((panel) => ({
        name: panel.run?.planner ?? "",
        times: panel.view?.times ?? [],
        subnets: panel.view?.recovery.flight.subnets ?? [],
        at: panel.view?.recovery.flight.reconnected_at_s ?? null,
      })),
    };
  }

  /**
   * The UAV at a place of a panel: its row among the survivors, or -1.
   * @param {Panel} panel
   * @param {number} x
   * @param {number} y
   */
  uavAt(panel, x, y) {
    if (!panel.picture) return -1;
    const { points, dim } = panel.picture;
    const screen = projectAll(this.camera, points, dim);
    const reach = Math.max(9, markRadius(this.camera, screen.length / 2) + 4);
    let best = -1;
    let least = reach * reach;
    for (let i = 0; i < screen.length / 2; i++) {
      const dx = screen[i * 2] - x;
      const dy = screen[i * 2 + 1] - y;
      if (dx * dx + dy * dy <= least) {
        least = dx * dx + dy * dy;
        best = i;
      }
    }
    return best;
  }

  /**
   * What is worth knowing of a UAV under the pointer.
   * @param {Panel} panel
   * @param {number} row
   */
  describeUav(panel, row) {
    if (!this.scenario || !panel.picture) return "";
    const swarm = panel.view?.scenarioAt(this.time) ?? this.scenario;
    const id = survivorsOf(swarm)[row];
    const { network } = panel.picture;
    let degree = 0;
    for (const end of network.links) if (end === row) degree++;
    const lines = [
      `UAV ${nameOf(this.scenario, id)}`,
      `${degree} links, sub-net of ${network.sizes[network.label[row]]}`,
      `speed limit ${speedOf(this.scenario, id)} m/s`,
    ];
    const { view } = panel;
    if (view) {
      lines.push(`now at ${view.speedAt(this.time, row).toFixed(1)} m/s; its path is ${metres(view.lengthOf(row))}`);
      const held = view.heldAt(this.time, id);
      if (held) lines.push(held);
    }
    return lines.join("\n");
  }
}

/**
 * The damaged swarm, or where a planner at work would send it by now.
 * @param {Scenario} scenario
 * @param {Preview | null} preview
 */
function previewOf(scenario, preview) {
  const dim = dimension(scenario);
  const start = flat(survivorsOf(scenario).map((id) => scenario.positions_m[id]), dim);
  const lost = flat(scenario.destroyed.map((id) => scenario.positions_m[id]), dim);
  const rows = preview?.targets_m;
  if (!rows || rows.length * dim !== start.length) return pictureOf(start, dim, scenario.radio_range_m, lost);
  const points = flat(rows, dim);
  const picture = pictureOf(points, dim, scenario.radio_range_m, lost);
  picture.trails = [start, points];
  picture.before = linkSet(findLinks(start, dim, scenario.radio_range_m));
  return picture;
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {number} count
 * @param {"dark" | "light"} mode
 */
function drawCount(ink, count, mode) {
  ink.font = "600 13px system-ui, sans-serif";
  ink.textAlign = "left";
  ink.fillStyle = mode === "dark" ? (count === 1 ? "#2ec4a0" : "#e6edf3") : count === 1 ? "#00735c" : "#17202a";
  ink.fillText(count === 1 ? "one network" : `${count} sub-nets`, 12, 22);
}

/** @param {number} share */
function percent(share) {
  return share < 0.1 ? `${(share * 100).toFixed(2)} %` : `${(share * 100).toFixed(0)} %`;
}

/** @param {number} value */
function metres(value) {
  return value >= 1000 ? `${(value / 1000).toFixed(2)} km` : `${value.toFixed(value < 10 ? 2 : 0)} m`;
}

/** @param {number} value */
function number2(value) {
  return Number(value).toFixed(2);
}
