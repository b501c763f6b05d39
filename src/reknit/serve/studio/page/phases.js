/** A flight that further strikes interrupt: one phase after the damage and after every strike. */

import { FlightView } from "./flight.js";
import { dimension } from "./scenario.js";

/** @import { Picture } from "./draw.js" */
/** @import { Phase, Recovery, Scenario, Strike } from "./types.js" */

/**
 * What is seen of a recovery, whether strikes interrupt it or not.
 * @param {Scenario} scenario
 * @param {Recovery} recovery
 * @returns {FlightView | PhasedView}
 */
export function viewOf(scenario, recovery) {
  return recovery.phases ? new PhasedView(recovery, recovery.phases) : new FlightView(scenario, recovery);
}

/**
 * The swarm as it is when a strike comes: the survivors where their flight has brought them, the
 * newly lost where they were lost, and what is left of the allowed time. At least one survives.
 * @param {Phase} phase
 * @param {Strike} strike
 * @returns {Scenario}
 */
export function struckSwarm(phase, strike) {
  const { scenario, recovery, begin } = phase;
  const view = new FlightView(scenario, recovery);
  const { points } = view.at(strike.time_s - begin);
  const dim = dimension(scenario);
  const positions_m = scenario.positions_m.slice();
  view.survivors.forEach((id, row) => (positions_m[id] = [...points.slice(row * dim, row * dim + dim)]));
  const fresh = strike.uavs.filter((id) => view.survivors.includes(id));
  if (fresh.length >= view.survivors.length) fresh.shift();
  const lost = new Set([...scenario.destroyed, ...fresh]);
  const allowed = scenario.allowed_time_s;
  return {
    ...scenario,
    positions_m,
    destroyed: [...lost].sort((a, b) => a - b),
    anchors: (scenario.anchors ?? []).filter((id) => !lost.has(id)),
    allowed_time_s: typeof allowed === "number" ? Math.max(0, allowed - (strike.time_s - begin)) : allowed,
  };
}

/**
 * One recovery of all phases: the plan and its proof are those of the first, which is about the
 * swarm that is shown; times and sums are of the whole.
 * @param {Phase[]} phases
 * @returns {Recovery}
 */
export function joined(phases) {
  const first = phases[0].recovery;
  if (phases.length === 1) return first;
  const last = phases[phases.length - 1];
  const at = last.recovery.flight.reconnected_at_s;
  const closest = phases.flatMap(({ recovery }) => recovery.metrics.min_separation_m ?? []);
  /** @type {number[]} */
  const times_s = [];
  /** @type {number[]} */
  const subnets = [];
  phases.forEach(({ begin, recovery: { flight } }, k) => {
    const end = phases[k + 1]?.begin ?? Infinity;
    flight.times_s.forEach((time, f) => {
      if (begin + time >= end) return;
      times_s.push(begin + time);
      subnets.push(flight.subnets[f]);
    });
  });
  return {
    ...first,
    compute_s: phases.reduce((sum, { recovery }) => sum + recovery.compute_s, 0),
    metrics: {
      ...last.recovery.metrics,
      path_length_m: phases.reduce((sum, phase, k) => sum + flownIn(phase, phases[k + 1]?.begin), 0),
      min_separation_m: closest.length ? Math.min(...closest) : null,
    },
    flight: { ...first.flight, times_s, subnets, reconnected_at_s: at === null ? null : last.begin + at },
    phases,
  };
}

/**
 * Metres that all fly in a phase until the next strike.
 * @param {Phase} phase
 * @param {number | undefined} until
 */
function flownIn(phase, until) {
  const { scenario, recovery, begin } = phase;
  if (until === undefined) return recovery.metrics.path_length_m;
  const view = new FlightView(scenario, recovery);
  const end = view.at(until - begin);
  let sum = 0;
  for (let f = 0; f <= end.frame; f++) {
    const a = view.frames[f];
    const b = f < end.frame ? view.frames[f + 1] : end.points;
    for (let k = 0; k < a.length; k += view.dim) {
      let square = 0;
      for (let c = k; c < k + view.dim; c++) square += (b[c] - a[c]) ** 2;
      sum += Math.sqrt(square);
    }
  }
  return sum;
}

/** Shows the phase that an instant is in; otherwise as a `FlightView`. */
export class PhasedView {
  /**
   * @param {Recovery} recovery
   * @param {Phase[]} phases
   */
  constructor(recovery, phases) {
    this.recovery = recovery;
    this.phases = phases;
    this.views = phases.map((phase) => new FlightView(phase.scenario, phase.recovery));
    this.dim = this.views[0].dim;
    this.times = recovery.flight.times_s;
    this.current = 0;
  }

  /** Of the phase that was shown last. */
  get survivors() {
    return this.views[this.current].survivors;
  }

  get end() {
    return this.phases[this.phases.length - 1].begin + this.views[this.views.length - 1].end;
  }

  /**
   * Make the phase of an instant the present one; returns its view and the time in it.
   * @param {number} time
   */
  turnTo(time) {
    this.current = 0;
    while (this.phases[this.current + 1]?.begin <= time) this.current++;
    return { view: this.views[this.current], since: time - this.phases[this.current].begin };
  }

  /** @param {number} time */
  scenarioAt(time) {
    return this.turnTo(time).view.scenario;
  }

  /** @param {number} time */
  at(time) {
    const { view, since } = this.turnTo(time);
    return view.at(since);
  }

  /**
   * @param {number} time
   * @param {number} row
   */
  speedAt(time, row) {
    const { view, since } = this.turnTo(time);
    return view.speedAt(since, row);
  }

  heldAt() {
    return "";
  }

  /** @param {number} row */
  pathOf(row) {
    return this.views[this.current].pathOf(row);
  }

  /** @param {number} row */
  lengthOf(row) {
    return this.views[this.current].lengthOf(row);
  }

  /**
   * @param {number} time
   * @returns {Picture}
   */
  picture(time) {
    const { view, since } = this.turnTo(time);
    return view.picture(since);
  }
}
