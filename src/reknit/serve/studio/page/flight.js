/** Where everybody is at an instant of a flight. */

import { findLinks } from "./network.js";
import { linkSet, pictureOf } from "./draw.js";
import { dimension, flat, nameOf, survivorsOf } from "./scenario.js";

/** @import { Picture } from "./draw.js" */
/** @import { Scenario, Recovery } from "./types.js" */

const TRAIL_FRAMES = 16;
/** What a UAV can hold of another one, by the number that the package gives it. */
const HELD = ["in touch", "unknown", "presumed dead", "certainly dead"];

export class FlightView {
  /**
   * @param {Scenario} scenario
   * @param {Recovery} recovery
   */
  constructor(scenario, recovery) {
    this.scenario = scenario;
    this.dim = dimension(scenario);
    this.range = scenario.radio_range_m;
    this.recovery = recovery;
    this.survivors = survivorsOf(scenario);
    const flight = recovery.flight;
    this.times = flight.times_s;
    this.frames = flight.positions_m.map((rows) => flat(rows, this.dim));
    this.lost = flat(scenario.destroyed.map((id) => scenario.positions_m[id]), this.dim);
    this.before = linkSet(findLinks(this.frames[0], this.dim, this.range));
    this.moved = Uint8Array.from(flight.path_lengths_m, (length) => (length > 0 ? 1 : 0));
    const anchored = new Set(scenario.anchors ?? []);
    this.anchors = new Set(this.survivors.flatMap((id, row) => (anchored.has(id) ? [row] : [])));
  }

  /** @returns {number} */
  get end() {
    return this.times[this.times.length - 1];
  }

  /** The swarm that flies, at any time. */
  scenarioAt() {
    return this.scenario;
  }

  /** Metres that a survivor flies in all. @param {number} row */
  lengthOf(row) {
    return this.recovery.flight.path_lengths_m[row];
  }

  /**
   * @param {number} time
   * @returns {{frame: number, points: Float64Array}}
   */
  at(time) {
    let frame = 0;
    let high = this.times.length - 1;
    while (frame < high) {
      const middle = (frame + high + 1) >> 1;
      if (this.times[middle] <= time) frame = middle;
      else high = middle - 1;
    }
    if (frame === this.times.length - 1) return { frame, points: this.frames[frame] };
    const a = this.frames[frame];
    const b = this.frames[frame + 1];
    const span = this.times[frame + 1] - this.times[frame];
    const share = span > 0 ? (time - this.times[frame]) / span : 0;
    if (share <= 0) return { frame, points: a };
    const points = new Float64Array(a.length);
    for (let k = 0; k < a.length; k++) points[k] = a[k] + (b[k] - a[k]) * share;
    return { frame, points };
  }

  /**
   * Metres per second of a survivor at an instant.
   * @param {number} time
   * @param {number} row
   */
  speedAt(time, row) {
    const { frame } = this.at(time);
    const next = Math.min(frame + 1, this.times.length - 1);
    const span = this.times[next] - this.times[frame];
    if (!(span > 0)) return 0;
    let square = 0;
    for (let k = row * this.dim; k < (row + 1) * this.dim; k++) square += (this.frames[next][k] - this.frames[frame][k]) ** 2;
    return Math.sqrt(square) / span;
  }

  /**
   * What the UAV whose belief the run has holds of another one; nothing where there is none.
   * @param {number} time
   * @param {number} id
   */
  heldAt(time, id) {
    const { belief } = this.recovery;
    if (!belief) return "";
    const observer = nameOf(this.scenario, belief.observer);
    if (id === belief.observer) return "its belief is the one this run has";
    const { frame } = this.at(time);
    const held = HELD[Number(belief.status[frame][id])] ?? "unknown";
    return `UAV ${observer} believes: ${held}, ${belief.apart_m[frame][id].toFixed(0)} m from the true place`;
  }

  /**
   * Every place of a survivor, frame by frame.
   * @param {number} row
   */
  pathOf(row) {
    const path = new Float64Array(this.frames.length * this.dim);
    this.frames.forEach((frame, f) => path.set(frame.subarray(row * this.dim, (row + 1) * this.dim), f * this.dim));
    return path;
  }

  /**
   * @param {number} time
   * @returns {Picture}
   */
  picture(time) {
    const { frame, points } = this.at(time);
    const picture = pictureOf(points, this.dim, this.range, this.lost);
    // With a plan everybody flies straight, so that the first place and the present one say it all.
    const stride = this.recovery.plan ? frame + 1 : Math.max(1, Math.ceil(frame / TRAIL_FRAMES));
    /** @type {Float64Array[]} */
    const trails = [];
    for (let f = 0; f <= frame; f += stride) trails.push(this.frames[f]);
    trails.push(points);
    picture.trails = trails;
    picture.before = this.before;
    picture.moved = this.moved;
    picture.anchors = this.anchors;
    return picture;
  }
}
