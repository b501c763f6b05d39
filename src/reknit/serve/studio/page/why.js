/** Shows what proves a bound: links that clash, a gap that somebody has to close, or a count. */

import { currentMode } from "./dom.js";
import { THEME } from "./draw.js";
import { cutNodes, damagePairs, findLinks, networkOf } from "./network.js";
import { dimension, flat, nameOf, speedOf, survivorsOf } from "./scenario.js";

/** @import { Camera } from "./camera.js" */
/** @import { Certificate, Scenario } from "./types.js" */

/**
 * A step of a proof in words, and what it speaks of: links and survivors as rows, and a place.
 * @typedef {{text: string, links: number[][], ringed: number[], place: number[] | null}} Proof
 */

/**
 * The steps of a proof, each with what to draw.
 * @param {Scenario} scenario
 * @param {Certificate} certificate
 * @returns {Proof[]}
 */
export function explain(scenario, certificate) {
  const bound = certificate.bound_s.toFixed(3);
  const ids = survivorsOf(scenario);
  /** @param {number} row */
  const name = (row) => nameOf(scenario, ids[row]);
  if (!certificate.cases.length) return [withoutCases(certificate, name)];
  if (!certificate.clashes.length) {
    const gap = widestGap(scenario, certificate.trial_s);
    if (!gap) return [{ text: `No plan is faster than ${bound} s.`, links: [], ringed: [], place: null }];
    const text =
      `No plan can be faster than ${bound} s, because somebody has to close this gap. In that time only pairs within ` +
      `${gap.reach.toFixed(1)} m of each other can come into range, and those do not join the two sides: even the nearest ` +
      `two across, UAV ${name(gap.pair[0])} and UAV ${name(gap.pair[1])}, are ${gap.length.toFixed(1)} m apart.`;
    return [{ text, links: [gap.pair], ringed: gap.side, place: null }];
  }
  const questions = certificate.cases.filter((row) => row[0] >= 0).length;
  return certificate.clashes.map((clash, k) => {
    const ends = new Set(clash.links.flat());
    const which = certificate.clashes.length > 1 ? `Clash ${k + 1} of ${certificate.clashes.length}: t` : "T";
    const cases = questions ? ` The proof asks of ${questions} links whether a plan uses them, and every answer ends in a clash or a cut.` : "";
    const text =
      `${which}hese ${clash.links.length} links among ${ends.size} UAVs cannot all hold before ${bound} s: ` +
      `pulling one pair together pulls another apart.${cases}`;
    return { text, links: clash.links, ringed: [], place: null };
  });
}

/**
 * What proves a bound for all trees at once.
 * @param {Certificate} certificate
 * @param {(row: number) => string} name
 * @returns {Proof}
 */
function withoutCases(certificate, name) {
  const { apart, crowd, hole, pulls, bundles, parting } = certificate;
  const start = `No plan can be faster than ${certificate.bound_s.toFixed(3)} s`;
  if (apart) {
    const text = `${start}: UAV ${name(apart[0])} and UAV ${name(apart[1])} are too close and need that long to part.`;
    return { text, links: [apart], ringed: [], place: null };
  }
  if (parting) {
    const links = parting.clashes.flatMap((clash) => clash.links);
    const text = `${start}: these UAVs are too close, and in whichever directions they part, that is how long they need.`;
    return { text, links, ringed: [], place: null };
  }
  if (crowd) {
    const text = `${start}: these ${crowd.length} UAVs need that long to find room for the demanded separation.`;
    return { text, links: [], ringed: crowd, place: null };
  }
  if (hole) {
    const text = `${start}: the survivors stand around the marked place, and too few are left to close a ring or to cross it.`;
    return { text, links: [], ringed: [], place: hole };
  }
  if (pulls) {
    const sizes = pulls.map((pull) => Math.hypot(...pull));
    const least = 0.01 * Math.max(...sizes);
    const ringed = sizes.flatMap((size, row) => (size > least ? [row] : []));
    const text = `${start}: whatever the links, they are too few and too short to span from one of these ${ringed.length} UAVs to the others before.`;
    return { text, links: [], ringed, place: null };
  }
  if (bundles?.length) {
    const links = bundles.flatMap((bundle) => bundle.links);
    const text = `${start}: of the links that could close before then, ${bundles.length} groups exclude one another so far that too few are left to join everybody.`;
    return { text, links, ringed: [], place: null };
  }
  return { text: "Nothing has to move, or nothing is proved: the bound is 0 s.", links: [], ringed: [], place: null };
}

/**
 * The length that a planned link may have, metres; null where the radio's fading decides it.
 * @param {Scenario} scenario
 */
function plannedRange(scenario) {
  if (scenario.link_reliability) return null;
  const blur = 3 * Math.SQRT2 * (scenario.position_sigma_m ?? 0);
  return scenario.radio_range_m * (1 - (scenario.link_margin ?? 0)) - blur;
}

/**
 * The two sides that links reachable within a time leave apart, and the nearest pair across.
 * @param {Scenario} scenario
 * @param {number} trial
 */
function widestGap(scenario, trial) {
  const dim = dimension(scenario);
  const ids = survivorsOf(scenario);
  const points = flat(ids.map((id) => scenario.positions_m[id]), dim);
  const speeds = ids.map((id) => speedOf(scenario, id));
  const fastest = Math.max(...speeds);
  const range = plannedRange(scenario);
  if (range === null) return null;
  const reach = range + 2 * fastest * trial;
  const { label, count } = networkOf(points, dim, reach);
  if (count < 2) return null;
  let length = Infinity;
  let pair = [0, 0];
  for (let i = 0; i < label.length; i++) {
    for (let j = i + 1; j < label.length; j++) {
      if (label[i] === label[j]) continue;
      let square = 0;
      for (let k = 0; k < dim; k++) square += (points[i * dim + k] - points[j * dim + k]) ** 2;
      if (square < length * length) {
        length = Math.sqrt(square);
        pair = [i, j];
      }
    }
  }
  const side = [...label].flatMap((group, row) => (group === label[pair[0]] ? [row] : []));
  return { reach, length, pair, side };
}

/**
 * Draw one step of a proof over a map of the damaged swarm.
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Scenario} scenario
 * @param {Proof} proof
 */
export function drawProof(ink, camera, scenario, proof) {
  const colour = THEME[currentMode()].proof;
  const ids = survivorsOf(scenario);
  /** @param {number} row */
  const at = (row) => {
    const point = scenario.positions_m[ids[row]];
    return camera.project(point[0], point[1], point[2] ?? 0);
  };
  ink.strokeStyle = colour;
  ink.globalAlpha = 0.6;
  ink.lineWidth = 1;
  for (const row of proof.ringed) {
    const [x, y] = at(row);
    ink.beginPath();
    ink.arc(x, y, 8, 0, 2 * Math.PI);
    ink.stroke();
  }
  ink.globalAlpha = 1;
  ink.lineWidth = 3;
  if (proof.place) {
    const [x, y] = camera.project(proof.place[0], proof.place[1], proof.place[2] ?? 0);
    ink.beginPath();
    ink.moveTo(x - 12, y - 12);
    ink.lineTo(x + 12, y + 12);
    ink.moveTo(x - 12, y + 12);
    ink.lineTo(x + 12, y - 12);
    ink.stroke();
  }
  ink.setLineDash([7, 4]);
  ink.beginPath();
  for (const [i, j] of proof.links) {
    ink.moveTo(...at(i));
    ink.lineTo(...at(j));
  }
  ink.stroke();
  ink.setLineDash([]);
  ink.lineWidth = 2;
  for (const row of new Set(proof.links.flat())) {
    const [x, y] = at(row);
    ink.beginPath();
    ink.arc(x, y, 10, 0, 2 * Math.PI);
    ink.stroke();
  }
}

/**
 * Rings around the survivors whose loss alone would split their sub-net.
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Scenario} scenario
 */
export function drawCritical(ink, camera, scenario) {
  ink.strokeStyle = THEME[currentMode()].text;
  ink.lineWidth = 2;
  for (const id of once(scenario, "critical", () => criticalIds(scenario))) {
    const point = scenario.positions_m[id];
    const [x, y] = camera.project(point[0], point[1], point[2] ?? 0);
    ink.beginPath();
    ink.arc(x, y, 11, 0, 2 * Math.PI);
    ink.stroke();
  }
}

/**
 * Survivors whose loss alone would split their sub-net.
 * @param {Scenario} scenario
 */
function criticalIds(scenario) {
  const dim = dimension(scenario);
  const ids = survivorsOf(scenario);
  const points = flat(ids.map((id) => scenario.positions_m[id]), dim);
  return cutNodes(ids.length, findLinks(points, dim, scenario.radio_range_m)).map((row) => ids[row]);
}

/** @type {WeakMap<Scenario, Map<string, any>>} */
const found = new WeakMap();

/**
 * What was found of a scenario, which never changes: a map that is turned asks again and again.
 * @template T
 * @param {Scenario} scenario
 * @param {string} name
 * @param {() => T} find
 * @returns {T}
 */
function once(scenario, name, find) {
  const known = found.get(scenario) ?? new Map();
  found.set(scenario, known);
  if (!known.has(name)) known.set(name, find());
  return known.get(name);
}

/**
 * The pairs of ML-DAGL's branch k, survivors to destroyed; returns how many there are.
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Scenario} scenario
 * @param {number} hops
 */
export function drawBranch(ink, camera, scenario, hops) {
  const { positions_m: rows } = scenario;
  const pairs = once(scenario, `branch ${hops}`, () => {
    const dim = dimension(scenario);
    const links = findLinks(flat(rows, dim), dim, scenario.radio_range_m);
    return damagePairs(rows.length, links, new Set(scenario.destroyed), hops);
  });
  ink.strokeStyle = THEME[currentMode()].proof;
  ink.lineWidth = 1;
  ink.globalAlpha = Math.min(0.7, Math.max(0.06, 250 / (pairs.length + 1)));
  ink.beginPath();
  for (const [i, j] of pairs) {
    ink.moveTo(...camera.project(rows[i][0], rows[i][1], rows[i][2] ?? 0));
    ink.lineTo(...camera.project(rows[j][0], rows[j][1], rows[j][2] ?? 0));
  }
  ink.stroke();
  ink.globalAlpha = 1;
  return pairs.length;
}
