/** Paints a swarm on the screen, by the graphics card where there is one, else pixel by pixel. */

import { SUBNET_COLOURS, THEME, colourIndex, drawAnchors, drawScale, gridLines, linkOpacity, linkWidth, markRadius, pairKey, projectAll } from "./draw.js";
import { glPainter, packed } from "./gl.js";
import { PixelPainter } from "./pixels.js";

/** @import { Camera } from "./camera.js" */
/** @import { Mode, Picture } from "./draw.js" */
/** @import { GlPainter } from "./gl.js" */

/** @typedef {GlPainter | PixelPainter} Painter */

const pixelPainter = new PixelPainter();

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {Mode} mode
 * @param {number} ratio Device pixels per CSS pixel.
 * @param {Painter} painter
 */
export function paintSwarm(ink, camera, picture, mode, ratio, painter = glPainter() ?? pixelPainter) {
  const { points, dim } = picture;
  const screen = projectAll(camera, points, dim);
  const radius = markRadius(camera, (points.length + picture.lost.length) / dim);
  painter.begin(camera.width, camera.height, ratio, packed(THEME[mode].ground, 1));
  painter.layer(picture.lost, `${camera.stamp} ${mode} ${ratio} ${radius}`, () => {
    addGrid(painter, camera, mode);
    addLost(painter, camera, picture, mode, radius);
  });
  addTrails(painter, camera, picture, mode);
  addLinks(painter, picture, screen, mode, radius);
  addUavs(painter, picture, screen, mode, radius);
  painter.end(ink);
  drawScale(ink, camera, mode);
  drawAnchors(ink, picture, screen, mode, radius);
}

/**
 * @param {Painter} painter
 * @param {Camera} camera
 * @param {Mode} mode
 */
function addGrid(painter, camera, mode) {
  const colour = packed(THEME[mode].grid, 1);
  const { across, up } = gridLines(camera);
  for (const x of across) painter.line(x, 0, x, camera.height, 1, colour);
  for (const y of up) painter.line(0, y, camera.width, y, 1, colour);
}

/**
 * @param {Painter} painter
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {Mode} mode
 * @param {number} radius
 */
function addLost(painter, camera, picture, mode, radius) {
  const screen = projectAll(camera, picture.lost, picture.dim);
  const arm = Math.max(1, radius * 0.75);
  const width = Math.max(0.8, radius * 0.3);
  const colour = packed(THEME[mode].lost, 0.8);
  for (let k = 0; k < screen.length; k += 2) {
    const x = screen[k];
    const y = screen[k + 1];
    painter.line(x - arm, y - arm, x + arm, y + arm, width, colour);
    painter.line(x - arm, y + arm, x + arm, y - arm, width, colour);
  }
}

/**
 * @param {Painter} painter
 * @param {Camera} camera
 * @param {Picture} picture
 * @param {Mode} mode
 */
function addTrails(painter, camera, picture, mode) {
  if (!picture.trails || picture.trails.length < 2) return;
  const frames = picture.trails.map((points) => projectAll(camera, points, picture.dim));
  const colour = packed(THEME[mode].trail, 0.75);
  for (let f = 1; f < frames.length; f++) {
    const from = frames[f - 1];
    const to = frames[f];
    for (let i = 0; i < from.length / 2; i++) {
      if (picture.moved && !picture.moved[i]) continue;
      painter.line(from[i * 2], from[i * 2 + 1], to[i * 2], to[i * 2 + 1], 1.4, colour);
    }
  }
}

/**
 * @param {Painter} painter
 * @param {Picture} picture
 * @param {Float32Array} screen
 * @param {Mode} mode
 * @param {number} radius
 */
function addLinks(painter, picture, screen, mode, radius) {
  const { links, label } = picture.network;
  const width = linkWidth(radius);
  const colours = SUBNET_COLOURS[mode].map((colour) => packed(colour, linkOpacity(links.length / 2)));
  const fresh = packed(THEME[mode].made, 0.95);
  /** @type {number[]} */
  const made = [];
  for (let k = 0; k < links.length; k += 2) {
    const i = links[k];
    const j = links[k + 1];
    if (picture.before && !picture.before.has(pairKey(i, j))) made.push(i, j);
    else painter.line(screen[i * 2], screen[i * 2 + 1], screen[j * 2], screen[j * 2 + 1], width, colours[colourIndex(label[i])]);
  }
  for (let k = 0; k < made.length; k += 2) {
    const i = made[k];
    const j = made[k + 1];
    painter.line(screen[i * 2], screen[i * 2 + 1], screen[j * 2], screen[j * 2 + 1], 1.6, fresh);
  }
}

/**
 * @param {Painter} painter
 * @param {Picture} picture
 * @param {Float32Array} screen
 * @param {Mode} mode
 * @param {number} radius
 */
function addUavs(painter, picture, screen, mode, radius) {
  const { label } = picture.network;
  const colours = SUBNET_COLOURS[mode].map((colour) => packed(colour, 1));
  const rim = packed(THEME[mode].rim, 1);
  // Far away a rim would be all that is seen of a dot.
  const edge = radius < 1.6 ? 0 : Math.min(1, radius * 0.25) / 2;
  for (let i = 0; i < label.length; i++) {
    const x = screen[i * 2];
    const y = screen[i * 2 + 1];
    if (edge) painter.dot(x, y, radius + edge, rim);
    painter.dot(x, y, radius - edge, colours[colourIndex(label[i])]);
  }
}
