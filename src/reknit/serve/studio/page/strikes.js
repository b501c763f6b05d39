/** Strikes that come later, while the swarm flies: kept beside the scenario, drawn on its map. */

import { currentMode } from "./dom.js";
import { THEME } from "./draw.js";
import { survivorsOf } from "./scenario.js";

/** @import { Camera } from "./camera.js" */
/** @import { Scenario, Strike } from "./types.js" */

const MOST_STRIKES = 20;

/**
 * The strikes with more losses at a time. One UAV that is struck at that time already is spared
 * instead, as a second click does; nobody is lost twice.
 * @param {Strike[]} strikes
 * @param {number} time_s
 * @param {number[]} uavs
 * @returns {Strike[]}
 */
export function withStrike(strikes, time_s, uavs) {
  const known = strikes.find((strike) => strike.time_s === time_s);
  const isSpared = uavs.length === 1 && Boolean(known?.uavs.includes(uavs[0]));
  const before = new Set(strikes.flatMap((strike) => (strike.time_s < time_s ? strike.uavs : [])));
  const fresh = new Set(uavs.filter((id) => !before.has(id)));
  const rest = strikes.map((strike) => ({ ...strike, uavs: strike.uavs.filter((id) => !fresh.has(id)) }));
  const lost = isSpared ? [] : [...fresh];
  const same = rest.find((strike) => strike.time_s === time_s);
  if (same) same.uavs = [...same.uavs, ...lost].sort((a, b) => a - b);
  else rest.push({ time_s, uavs: lost });
  return keptOf(rest);
}

/**
 * Strikes in their order, without those that take nobody.
 * @param {Strike[]} strikes
 */
function keptOf(strikes) {
  return strikes.filter((strike) => strike.uavs.length).sort((a, b) => a.time_s - b.time_s).slice(0, MOST_STRIKES);
}

/**
 * What a link says of strikes, as far as it makes sense for the swarm.
 * @param {any} value
 * @param {Scenario} scenario
 * @returns {Strike[]}
 */
export function readStrikes(value, scenario) {
  if (!Array.isArray(value)) return [];
  const alive = new Set(survivorsOf(scenario));
  return keptOf(value.flatMap((one) => {
    const time_s = Number(one?.time_s);
    if (!(time_s > 0 && time_s < 1e6) || !Array.isArray(one.uavs)) return [];
    return [{ time_s, uavs: one.uavs.filter((/** @type {any} */ id) => alive.has(id)) }];
  }));
}

/**
 * The strikes that are left for a swarm after it was edited; none if its UAVs are others.
 * @param {Strike[]} strikes
 * @param {Scenario | null} before
 * @param {Scenario} after
 * @returns {Strike[]}
 */
export function strikesAfter(strikes, before, after) {
  if (!before || before.positions_m.length > after.positions_m.length) return [];
  return readStrikes(strikes, after);
}

/**
 * Ids of those that no strike up to a time takes.
 * @param {Scenario} scenario
 * @param {Strike[]} strikes
 * @param {number} time_s
 */
export function leftBy(scenario, strikes, time_s) {
  const lost = new Set(strikes.flatMap((strike) => (strike.time_s <= time_s ? strike.uavs : [])));
  return survivorsOf(scenario).filter((id) => !lost.has(id));
}

/** @param {Strike[]} strikes */
export function describeStrikes(strikes) {
  return strikes.map((strike) => `${strike.uavs.length} more at ${strike.time_s} s`).join(", ");
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Scenario} scenario
 * @param {Strike[]} strikes
 */
export function drawStrikes(ink, camera, scenario, strikes) {
  ink.strokeStyle = ink.fillStyle = THEME[currentMode()].proof;
  ink.lineWidth = 1.5;
  ink.font = "600 11px system-ui, sans-serif";
  ink.textAlign = "center";
  for (const strike of strikes) {
    ink.beginPath();
    for (const id of strike.uavs) {
      const [x, y, z] = scenario.positions_m[id];
      const [px, py] = camera.project(x, y, z ?? 0);
      for (const side of [-1, 1]) {
        ink.moveTo(px - 6, py - 6 * side);
        ink.lineTo(px + 6, py + 6 * side);
      }
    }
    ink.stroke();
    for (const id of strike.uavs.slice(0, 40)) {
      const [x, y, z] = scenario.positions_m[id];
      const [px, py] = camera.project(x, y, z ?? 0);
      ink.fillText(`${strike.time_s} s`, px, py - 10);
    }
  }
}
