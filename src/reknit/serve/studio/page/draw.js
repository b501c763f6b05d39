/** Draws a swarm on a canvas, or on anything that has a canvas's few methods used here. */

import { networkOf } from "./network.js";

/** @import { Camera } from "./camera.js" */
/** @import { Network } from "./network.js" */

/**
 * @typedef {{points: Float64Array, dim: number, range: number, network: Network,
 *   lost: Float64Array, trails: Float64Array[] | null, before: Set<number> | null,
 *   moved: Uint8Array | null, anchors: Set<number>}} Picture
 */

/**
 * Searched for so that every two can be told apart with any kind of colour blindness, also from
 * the pink of proofs and strikes; the first is the largest sub-net's.
 */
export const SUBNET_COLOURS = {
  dark: ["#5aa9ff", "#e69f00", "#bbffcc", "#7744ff", "#ffff99", "#cc3311", "#aaaa66", "#aa44aa"],
  light: ["#2166ac", "#d98200", "#77aa55", "#8844dd", "#cc88bb", "#440000", "#110044", "#555500"],
};

export const THEME = {
  dark: {
    ground: "#10151c", lost: "#6b7684", text: "#e6edf3", quiet: "#8b98a8", grid: "#1c242e",
    trail: "#e69f00", made: "#f4f7fa", proof: "#ff5fa2", rim: "#10151c",
  },
  light: {
    ground: "#ffffff", lost: "#9aa4b0", text: "#17202a", quiet: "#5b6672", grid: "#eef1f4",
    trail: "#d98200", made: "#17202a", proof: "#c2185b", rim: "#ffffff",
  },
};

/** @typedef {"dark" | "light"} Mode */

const PATH_LINES = 64;
const PATH_TRAILS = 8;

/**
 * One number for an unordered pair.
 * @param {number} i
 * @param {number} j
 */
export function pairKey(i, j) {
  return i < j ? i * 67108864 + j : j * 67108864 + i;
}

/** @param {Int32Array} links */
export function linkSet(links) {
  /** @type {Set<number>} */
  const keys = new Set();
  for (let k = 0; k < links.length; k += 2) keys.add(pairKey(links[k], links[k + 1]));
  return keys;
}

/**
 * Screen positions of points: x, y, x, y, ...
 * @param {Camera} camera
 * @param {Float64Array} points
 * @param {number} dim
 */
export function projectAll(camera, points, dim) {
  const count = points.length / dim;
  const screen = new Float32Array(count * 2);
  const { x, y, z } = camera.axes();
  for (let i = 0; i < count; i++) {
    const a = points[i * dim];
    const b = points[i * dim + 1];
    const c = dim === 3 ? points[i * 3 + 2] : 0;
    screen[i * 2] = x[0] * a + y[0] * b + z[0] * c + camera.shiftX;
    screen[i * 2 + 1] = x[1] * a + y[1] * b + z[1] * c + camera.shiftY;
  }
  return screen;
}

/**
 * Radius of a UAV's mark: neither drowns a small swarm nor smears a large one.
 * @param {Camera} camera
 * @param {number} count
 */
export function markRadius(camera, count) {
  const area = camera.width * camera.height;
  const roomy = 0.16 * Math.sqrt(area / Math.max(count, 1));
  return Math.min(7, Math.max(1.1, roomy)) * Math.min(2, Math.max(1, Math.sqrt(camera.scale / camera.fitted)));
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {Mode} mode
 */
export function drawSwarm(ink, camera, picture, mode) {
  const colours = SUBNET_COLOURS[mode];
  const theme = THEME[mode];
  const { points, dim } = picture;
  const screen = projectAll(camera, points, dim);
  const total = points.length / dim + picture.lost.length / dim;
  const radius = markRadius(camera, total);
  drawGround(ink, camera, mode);
  drawLost(ink, camera, picture, theme, radius);
  drawTrails(ink, camera, picture, theme);
  drawLinks(ink, picture, screen, colours, theme, radius);
  drawUavs(ink, camera, picture, screen, colours, theme, radius);
  drawAnchors(ink, picture, screen, mode, radius);
}

/**
 * What is under the swarm: the ground with its grid and scale.
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Mode} mode
 */
function drawGround(ink, camera, mode) {
  ink.fillStyle = THEME[mode].ground;
  ink.fillRect(0, 0, camera.width, camera.height);
  ink.strokeStyle = THEME[mode].grid;
  ink.lineWidth = 1;
  const { across, up } = gridLines(camera);
  ink.beginPath();
  for (const x of across) {
    ink.moveTo(x, 0);
    ink.lineTo(x, camera.height);
  }
  for (const y of up) {
    ink.moveTo(0, y);
    ink.lineTo(camera.width, y);
  }
  ink.stroke();
  drawScale(ink, camera, mode);
}

/**
 * A square about every anchor.
 * @param {CanvasRenderingContext2D} ink
 * @param {Picture} picture
 * @param {Float32Array} screen
 * @param {Mode} mode
 * @param {number} radius
 */
export function drawAnchors(ink, picture, screen, mode, radius) {
  ink.strokeStyle = THEME[mode].text;
  ink.lineWidth = 1.5;
  for (const i of picture.anchors) {
    const r = radius + 3;
    ink.strokeRect(screen[i * 2] - r, screen[i * 2 + 1] - r, 2 * r, 2 * r);
  }
}

/**
 * Which of the colours a sub-net has: the largest its own, the others take turns.
 * @param {number} label
 */
export function colourIndex(label) {
  return label === 0 ? 0 : 1 + ((label - 1) % (SUBNET_COLOURS.dark.length - 1));
}

/** @param {number} radius */
export function linkWidth(radius) {
  return Math.min(1.4, Math.max(0.5, radius * 0.3));
}

/** @param {number} count */
export function linkOpacity(count) {
  return Math.min(0.55, Math.max(0.12, 700 / (count + 1)));
}

/** Metres between two lines of the grid. @param {Camera} camera */
function gridStep(camera) {
  const rough = 110 / camera.scale;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((x) => x >= rough) ?? rough;
}

/**
 * Where the grid's lines are on the screen; in 3-D there are none.
 * @param {Camera} camera
 */
export function gridLines(camera) {
  /** @type {number[]} */
  const across = [];
  /** @type {number[]} */
  const up = [];
  if (camera.dim === 3) return { across, up };
  const step = gridStep(camera);
  const [left, top] = camera.unproject(0, 0);
  const [right, bottom] = camera.unproject(camera.width, camera.height);
  for (let x = Math.ceil(left / step) * step; x <= right; x += step) across.push(Math.round(camera.project(x, 0, 0)[0]) + 0.5);
  for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) up.push(Math.round(camera.project(0, y, 0)[1]) + 0.5);
  return { across, up };
}

/**
 * How long a cell of the grid is.
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Mode} mode
 */
export function drawScale(ink, camera, mode) {
  if (camera.dim === 3) return;
  const step = gridStep(camera);
  ink.fillStyle = ink.strokeStyle = THEME[mode].quiet;
  ink.lineWidth = 1;
  ink.beginPath();
  ink.moveTo(12, camera.height - 12);
  ink.lineTo(12 + step * camera.scale, camera.height - 12);
  ink.stroke();
  ink.font = "11px system-ui, sans-serif";
  ink.textAlign = "left";
  ink.fillText(step >= 1000 ? `${step / 1000} km` : `${step} m`, 14, camera.height - 17);
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {{lost: string}} theme
 * @param {number} radius
 */
function drawLost(ink, camera, picture, theme, radius) {
  const screen = projectAll(camera, picture.lost, picture.dim);
  const arm = Math.max(1, radius * 0.75);
  ink.strokeStyle = theme.lost;
  ink.globalAlpha = 0.8;
  ink.lineWidth = Math.max(0.8, radius * 0.3);
  ink.beginPath();
  for (let k = 0; k < screen.length; k += 2) {
    ink.moveTo(screen[k] - arm, screen[k + 1] - arm);
    ink.lineTo(screen[k] + arm, screen[k + 1] + arm);
    ink.moveTo(screen[k] - arm, screen[k + 1] + arm);
    ink.lineTo(screen[k] + arm, screen[k + 1] - arm);
  }
  ink.stroke();
  ink.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {{trail: string}} theme
 */
function drawTrails(ink, camera, picture, theme) {
  if (!picture.trails || picture.trails.length < 2) return;
  const frames = picture.trails.map((points) => projectAll(camera, points, picture.dim));
  ink.strokeStyle = theme.trail;
  ink.globalAlpha = 0.75;
  ink.lineWidth = 1.4;
  ink.beginPath();
  const count = frames[0].length / 2;
  for (let i = 0; i < count; i++) {
    if (picture.moved && !picture.moved[i]) continue;
    ink.moveTo(frames[0][i * 2], frames[0][i * 2 + 1]);
    for (const frame of frames) ink.lineTo(frame[i * 2], frame[i * 2 + 1]);
    if (i % PATH_TRAILS === PATH_TRAILS - 1) nextPath(ink);
  }
  ink.stroke();
  ink.globalAlpha = 1;
}

/**
 * Links in the colour of their sub-net; those that did not exist at the damage stand out.
 * @param {CanvasRenderingContext2D} ink
 * @param {Picture} picture
 * @param {Float32Array} screen
 * @param {string[]} colours
 * @param {{made: string}} theme
 * @param {number} radius
 */
function drawLinks(ink, picture, screen, colours, theme, radius) {
  const { links, label } = picture.network;
  /** @type {number[][]} */
  const groups = colours.map(() => []);
  /** @type {number[]} */
  const fresh = [];
  for (let k = 0; k < links.length; k += 2) {
    const i = links[k];
    const j = links[k + 1];
    if (picture.before && !picture.before.has(pairKey(i, j))) fresh.push(i, j);
    else groups[colourIndex(label[i])].push(i, j);
  }
  ink.lineWidth = linkWidth(radius);
  ink.globalAlpha = linkOpacity(links.length / 2);
  groups.forEach((pairs, colour) => stroke(ink, pairs, screen, colours[colour]));
  ink.globalAlpha = 0.95;
  ink.lineWidth = 1.6;
  stroke(ink, fresh, screen, theme.made);
  ink.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {number[]} pairs
 * @param {Float32Array} screen
 * @param {string} colour
 */
function stroke(ink, pairs, screen, colour) {
  if (!pairs.length) return;
  ink.strokeStyle = colour;
  ink.beginPath();
  for (let k = 0; k < pairs.length; k += 2) {
    ink.moveTo(screen[pairs[k] * 2], screen[pairs[k] * 2 + 1]);
    ink.lineTo(screen[pairs[k + 1] * 2], screen[pairs[k + 1] * 2 + 1]);
    if (k % PATH_LINES === PATH_LINES - 2) nextPath(ink);
  }
  ink.stroke();
}

/**
 * Many short paths are painted faster than one that crosses itself everywhere.
 * @param {CanvasRenderingContext2D} ink
 */
function nextPath(ink) {
  ink.stroke();
  ink.beginPath();
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {Float32Array} screen
 * @param {string[]} colours
 * @param {{rim: string}} theme
 * @param {number} radius
 */
function drawUavs(ink, camera, picture, screen, colours, theme, radius) {
  const { label } = picture.network;
  const count = label.length;
  const square = radius < 1.6;
  for (let colour = 0; colour < colours.length; colour++) {
    ink.fillStyle = colours[colour];
    ink.strokeStyle = theme.rim;
    ink.lineWidth = Math.min(1, radius * 0.25);
    ink.beginPath();
    for (let i = 0; i < count; i++) {
      if (colourIndex(label[i]) !== colour) continue;
      const x = screen[i * 2];
      const y = screen[i * 2 + 1];
      if (x < -9 || y < -9 || x > camera.width + 9 || y > camera.height + 9) continue;
      // Far away a UAV is a dot of two pixels, and a square is as good and much faster.
      if (square) {
        ink.rect(x - radius, y - radius, 2 * radius, 2 * radius);
      } else {
        ink.moveTo(x + radius, y);
        ink.arc(x, y, radius, 0, 2 * Math.PI);
      }
    }
    ink.fill();
    if (!square) ink.stroke();
  }
}

/**
 * @param {Float64Array} points
 * @param {number} dim
 * @param {number} range
 * @param {Float64Array} lost
 * @returns {Picture}
 */
export function pictureOf(points, dim, range, lost) {
  const network = networkOf(points, dim, range);
  return { points, dim, range, network, lost, trails: null, before: null, moved: null, anchors: new Set() };
}
