/** N_s over time for several runs, the bound as a line that nobody crosses. */

import { SUBNET_COLOURS, THEME } from "./draw.js";

/** @import { Mode } from "./draw.js" */
/** @import { Preview } from "./types.js" */

const RUN_COLOURS = { dark: SUBNET_COLOURS.dark.slice(0, 6), light: SUBNET_COLOURS.light.slice(0, 6) };
const TITLE_WIDTH = 130;
const [CHART_LEFT, CHART_RIGHT, CHART_TOP, CHART_BOTTOM] = [44, 14, 18, 22];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [1, 2]];

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {{width: number, height: number, end: number, time: number, bound: number | null,
 *   strikes: number[], lines: {name: string, times: number[], subnets: number[], at: number | null}[]}} chart
 * @param {Mode} mode
 */
export function drawChart(ink, chart, mode) {
  const theme = THEME[mode];
  const { width, height } = chart;
  ink.clearRect(0, 0, width, height);
  ink.fillStyle = theme.ground;
  ink.fillRect(0, 0, width, height);
  const left = CHART_LEFT;
  const right = width - CHART_RIGHT;
  const top = CHART_TOP;
  const bottom = height - CHART_BOTTOM;
  const most = Math.max(2, ...chart.lines.map((line) => Math.max(...line.subnets)));
  /** @param {number} t */
  const px = (t) => left + ((right - left) * t) / Math.max(chart.end, 1e-9);
  /** @param {number} n */
  const py = (n) => bottom - ((bottom - top) * (n - 1)) / Math.max(1, most - 1);
  ink.font = "11px system-ui, sans-serif";
  ink.lineWidth = 1;
  ink.strokeStyle = theme.grid;
  ink.fillStyle = theme.quiet;
  ink.textAlign = "right";
  const step = Math.max(1, niceStep(most, Math.max(1, Math.floor((bottom - top) / 22))));
  for (let n = 1; n <= most; n = n === 1 && step > 1 ? step : n + step) {
    ink.beginPath();
    ink.moveTo(left, py(n));
    ink.lineTo(right, py(n));
    ink.stroke();
    ink.fillText(String(n), left - 6, py(n) + 4);
  }
  ink.textAlign = "center";
  const stride = niceStep(chart.end, 8);
  for (let t = 0; t <= chart.end + 1e-9; t += stride) {
    ink.fillText(`${Number(t.toFixed(6))}`, px(t), height - 7);
  }
  ink.textAlign = "left";
  ink.fillText("sub-nets over time (s)", left, 12);
  chart.lines.forEach((line, k) => {
    ink.strokeStyle = RUN_COLOURS[mode][k % 6];
    ink.lineWidth = 2;
    ink.setLineDash(DASHES[k % 6]);
    ink.beginPath();
    line.times.forEach((t, f) => {
      if (f > 0 && line.times[f - 1] >= chart.end) return;
      if (t > chart.end) {
        ink.lineTo(px(chart.end), py(line.subnets[f - 1]));
        return;
      }
      if (f > 0) ink.lineTo(px(t), py(line.subnets[f - 1]));
      else ink.moveTo(px(t), py(line.subnets[0]));
      ink.lineTo(px(t), py(line.subnets[f]));
    });
    ink.stroke();
    ink.setLineDash([]);
    if (line.at !== null && line.at <= chart.end) {
      ink.fillStyle = RUN_COLOURS[mode][k % 6];
      ink.beginPath();
      ink.arc(px(line.at), py(1), 4.5, 0, 2 * Math.PI);
      ink.fill();
    }
  });
  ink.fillStyle = ink.strokeStyle = theme.quiet;
  for (const time of chart.strikes.filter((one) => one <= chart.end)) {
    ink.lineWidth = 1;
    ink.beginPath();
    ink.moveTo(px(time), top - 4);
    ink.lineTo(px(time), bottom);
    ink.stroke();
    ink.fillText("strike", px(time) + 4, bottom - 4);
  }
  if (chart.bound !== null && chart.bound > 0) {
    ink.strokeStyle = theme.proof;
    ink.lineWidth = 1.5;
    ink.setLineDash([5, 4]);
    ink.beginPath();
    ink.moveTo(px(chart.bound), top - 14);
    ink.lineTo(px(chart.bound), bottom);
    ink.stroke();
    ink.setLineDash([]);
    // Above the lines, beside the title.
    const onLeft = px(chart.bound) > width - 190;
    ink.fillStyle = theme.proof;
    ink.textAlign = onLeft ? "right" : "left";
    const begin = onLeft ? px(chart.bound) - 6 : Math.max(px(chart.bound) + 6, left + TITLE_WIDTH);
    ink.fillText(`no plan arrives before ${chart.bound.toFixed(2)} s`, begin, 12);
  }
}

/**
 * The present instant, over the chart.
 * @param {CanvasRenderingContext2D} ink
 * @param {{width: number, height: number, end: number, time: number}} chart
 * @param {Mode} mode
 */
export function drawInstant(ink, chart, mode) {
  const x = CHART_LEFT + ((chart.width - CHART_RIGHT - CHART_LEFT) * chart.time) / Math.max(chart.end, 1e-9);
  ink.strokeStyle = THEME[mode].text;
  ink.lineWidth = 1;
  ink.beginPath();
  ink.moveTo(x, CHART_TOP - 4);
  ink.lineTo(x, chart.height - CHART_BOTTOM + 4);
  ink.stroke();
}

/**
 * What a planner has told while it works: its best plan falls, its proved bound rises.
 * @param {Preview[]} history
 * @returns {{best: number[], bound: number[]}}
 */
export function liveValues(history) {
  return {
    best: history.flatMap((told) => told.recovery_time_s ?? []),
    bound: history.flatMap((told) => told.lower_bound_s ?? []),
  };
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {number} width
 * @param {number} height
 * @param {Preview[]} history
 * @param {Mode} mode
 */
export function drawLive(ink, width, height, history, mode) {
  const theme = THEME[mode];
  const { best, bound } = liveValues(history);
  if (!best.length) return;
  const most = Math.max(...best);
  const least = 0.9 * Math.min(...best, ...bound);
  const top = height - 78;
  ink.globalAlpha = 0.85;
  ink.fillStyle = theme.ground;
  ink.fillRect(0, top - 22, width, height);
  ink.globalAlpha = 1;
  ink.lineWidth = 2;
  for (const [values, colour] of /** @type {[number[], string][]} */ ([[best, theme.trail], [bound, theme.proof]])) {
    if (!values.length) continue;
    ink.strokeStyle = colour;
    ink.beginPath();
    values.forEach((value, k) => {
      const x = 12 + ((width - 24) * k) / Math.max(1, values.length - 1);
      const y = height - 10 - ((height - 10 - top) * (value - least)) / Math.max(most - least, 1e-9);
      if (k) ink.lineTo(x, y);
      else ink.moveTo(x, y);
      if (values.length === 1) ink.lineTo(width - 12, y);
    });
    ink.stroke();
  }
  ink.font = "11px system-ui, sans-serif";
  ink.textAlign = "left";
  ink.fillStyle = theme.trail;
  const planned = `best plan so far ${best[best.length - 1].toFixed(2)} s`;
  ink.fillText(planned, 12, top - 8);
  if (!bound.length) return;
  ink.fillStyle = theme.proof;
  ink.textAlign = "right";
  ink.fillText(`proved bound ${bound[bound.length - 1].toFixed(2)} s`, width - 12, top - 8);
}

/**
 * @param {number} span
 * @param {number} parts
 */
function niceStep(span, parts) {
  const rough = Math.max(span / Math.max(parts, 1), 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((x) => x >= rough) ?? rough;
}
