/** What can be taken away: pictures, a film, files, and the commands that do the same. */

import { drawChart, drawInstant } from "./chart.js";
import { currentMode } from "./dom.js";
import { THEME, drawSwarm } from "./draw.js";
import { dimension, nameOf, survivorsOf } from "./scenario.js";

/** @import { Stage } from "./stage.js" */
/** @import { Recovery, Scenario, Strike } from "./types.js" */

const TITLE = 26;

/**
 * The canvas methods that the drawings use, writing SVG instead.
 */
class SvgInk {
  constructor() {
    /** @type {string[]} */
    this.parts = [];
    this.path = "";
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "";
    this.textAlign = "left";
    this.dash = "";
  }
  clearRect() {}
  beginPath() {
    this.path = "";
  }
  closePath() {
    this.path += "Z";
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${x.toFixed(2)} ${y.toFixed(2)}`;
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${x.toFixed(2)} ${y.toFixed(2)}`;
  }
  /** @param {number} x @param {number} y @param {number} r */
  arc(x, y, r) {
    const d = (2 * r).toFixed(2);
    const s = r.toFixed(2);
    this.path += `M${(x - r).toFixed(2)} ${y.toFixed(2)}a${s} ${s} 0 1 0 ${d} 0a${s} ${s} 0 1 0 -${d} 0`;
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.path += `M${x.toFixed(2)} ${y.toFixed(2)}h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}Z`;
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${this.fillStyle}"/>`);
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    this.beginPath();
    this.rect(x, y, w, h);
    this.stroke();
  }
  fill() {
    if (this.path) this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}" opacity="${this.globalAlpha}"/>`);
  }
  stroke() {
    if (!this.path) return;
    const dash = this.dash ? ` stroke-dasharray="${this.dash}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" opacity="${this.globalAlpha}"${dash}/>`);
  }
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash.join(" ");
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign] ?? "start";
    const clean = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    this.parts.push(`<text x="${x}" y="${y}" fill="${this.fillStyle}" text-anchor="${anchor}" font-family="system-ui, sans-serif" font-size="12">${clean}</text>`);
  }
  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.parts.push(`<g transform="translate(${x} ${y})">`);
  }
  endGroup() {
    this.parts.push("</g>");
  }
}

/**
 * Where everything of the view stands in one picture.
 * @param {Stage} stage
 */
function layout(stage) {
  const { width, height } = stage.camera;
  const count = stage.panels.length;
  const columns = count === 4 ? 2 : Math.min(3, Math.max(1, count)); // as on the page
  const rows = Math.ceil(count / columns);
  const chart = stage.timeline.hidden ? 0 : 150;
  return { width, height, columns, rows, chart, total: { width: columns * width, height: rows * (height + TITLE) + chart } };
}

/**
 * Draw the whole view.
 * @param {Stage} stage
 * @param {CanvasRenderingContext2D} ink
 * @param {(x: number, y: number) => () => void} enter Begin a part at this place; returns how to end it.
 */
function compose(stage, ink, enter) {
  const mode = currentMode();
  const place = layout(stage);
  ink.fillStyle = THEME[mode].ground;
  ink.fillRect(0, 0, place.total.width, place.total.height);
  stage.panels.forEach((panel, k) => {
    const picture = stage.pictureNow(panel);
    if (!picture) return;
    const x = (k % place.columns) * place.width;
    const y = Math.floor(k / place.columns) * (place.height + TITLE);
    const leaveTitle = enter(x, y);
    ink.fillStyle = THEME[mode].text;
    ink.font = "600 13px system-ui, sans-serif";
    ink.textAlign = "left";
    const at = panel.run?.recovery?.flight.reconnected_at_s;
    const result = panel.run ? (at === null || at === undefined ? ": not reconnected" : `: whole after ${at.toFixed(2)} s`) : "";
    ink.fillText(`${panel.run?.planner ?? "the damaged swarm"}${result}`, 12, 17);
    leaveTitle();
    const leave = enter(x, y + TITLE);
    drawSwarm(ink, stage.camera, picture, mode);
    if (!panel.run) stage.overlay?.(ink, panel);
    leave();
  });
  if (place.chart) {
    const leave = enter(0, place.total.height - place.chart);
    const chart = stage.chartData(place.total.width, place.chart);
    drawChart(ink, chart, mode);
    drawInstant(ink, chart, mode);
    leave();
  }
  return place.total;
}

/**
 * @param {Stage} stage
 * @param {number} ratio
 */
export function viewCanvas(stage, ratio = 2) {
  const { total } = layout(stage);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(total.width * ratio);
  canvas.height = Math.round(total.height * ratio);
  paintView(stage, canvas, ratio);
  return canvas;
}

/**
 * @param {Stage} stage
 * @param {HTMLCanvasElement} canvas
 * @param {number} ratio
 */
function paintView(stage, canvas, ratio) {
  const ink = canvas.getContext("2d");
  if (!ink) throw new Error("this browser draws no canvas");
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  compose(stage, ink, (x, y) => {
    ink.save();
    ink.translate(x, y);
    return () => ink.restore();
  });
}

/**
 * @param {Stage} stage
 * @returns {Promise<Blob>}
 */
export function viewPng(stage) {
  return new Promise((resolve, reject) =>
    viewCanvas(stage).toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made")))),
  );
}

/**
 * @param {Stage} stage
 * @returns {Blob}
 */
export function viewSvg(stage) {
  const ink = new SvgInk();
  const total = compose(stage, /** @type {any} */ (ink), (x, y) => {
    ink.translate(x, y);
    return () => ink.endGroup();
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}" width="${total.width}" height="${total.height}">`;
  return new Blob([head, ...ink.parts, "</svg>"], { type: "image/svg+xml" });
}

/**
 * The flight from its beginning to its end, as a film.
 * @param {Stage} stage
 * @returns {Promise<Blob>}
 */
export async function viewFilm(stage) {
  const canvas = viewCanvas(stage, 1);
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: "video/webm" });
  /** @type {Blob[]} */
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  recorder.start();
  const seconds = Math.min(20, Math.max(2, stage.end / stage.speed));
  const began = performance.now();
  for (let share = 0; share < 1; ) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    share = Math.min(1, (performance.now() - began) / 1000 / seconds);
    stage.setTime(share * stage.end);
    paintView(stage, canvas, 1);
  }
  recorder.stop();
  await stopped;
  return new Blob(parts, { type: "video/webm" });
}

/**
 * One cell of a table.
 * @param {string} text
 */
function cell(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The scenario as `reknit` reads and writes it in a .csv file: places and who is alive.
 * @param {Scenario} scenario
 */
export function scenarioTable(scenario) {
  const lost = new Set(scenario.destroyed);
  const axes = ["x_m", "y_m", "z_m"].slice(0, dimension(scenario));
  const rows = scenario.positions_m.map((row, id) => [cell(nameOf(scenario, id)), ...row, lost.has(id) ? 0 : 1].join(","));
  return `${["uav_id", ...axes, "alive"].join(",")}\n${rows.join("\n")}\n`;
}

/**
 * A flight as a long table, as `reknit recover --out` writes it.
 * @param {Scenario} scenario
 * @param {Recovery} recovery
 */
export function flightTable(scenario, recovery) {
  const axes = ["x_m", "y_m", "z_m"].slice(0, dimension(scenario));
  const phases = recovery.phases ?? [{ begin: 0, scenario, recovery }];
  const rows = phases.flatMap(({ begin, scenario: swarm, recovery: { flight } }, p) => {
    const end = phases[p + 1]?.begin ?? Infinity;
    const ids = survivorsOf(swarm).map((id) => cell(nameOf(swarm, id)));
    return flight.positions_m.flatMap((frame, f) =>
      begin + flight.times_s[f] < end ? frame.map((row, k) => [begin + flight.times_s[f], ids[k], ...row].join(",")) : [],
    );
  });
  return `${["time_s", "uav_id", ...axes].join(",")}\n${rows.join("\n")}\n`;
}

/**
 * One word of a command, quoted where a shell would make more of it.
 * @param {string} text
 */
function word(text) {
  return /^[\w.,:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {string[]} planners
 * @param {number} seed
 * @param {number | null} budget Seconds.
 * @param {Object<string, any> | null} origin The request that generated the scenario, if it is untouched.
 * @param {Scenario} scenario
 * @param {Strike[]} strikes
 */
export function commands(planners, seed, budget, origin, scenario, strikes) {
  const names = planners.length ? planners : ["certified"];
  /** @param {any} value */
  const literal = (value) => (value === true ? "True" : value === false ? "False" : JSON.stringify(value));
  const made = origin
    ? `reknit.generate(${Object.entries(origin).filter(([, value]) => value !== null).map(([name, value]) => `${name}=${literal(value)}`).join(", ")})`
    : 'reknit.load_scenario("scenario.json")';
  const saved = origin ? `python -c 'import reknit; reknit.save_scenario(${made}, "scenario.json")'\n` : "";
  const limit = budget === null ? "" : `, budget_s=${budget}`;
  /** @param {number} id */
  const called = (id) => (scenario.names ? scenario.names[id] : id);
  const later = strikes.map(({ time_s, uavs }) => `reknit.Strike(${time_s}, uavs=${JSON.stringify(uavs.map(called))})`);
  const python = [
    "import reknit",
    "",
    `scenario = ${made}`,
    ...(later.length ? [`strikes = [${later.join(", ")}]`] : []),
    `for planner in ${JSON.stringify(names)}:`,
    later.length
      ? `    run = reknit.recover_repeatedly(scenario, planner, strikes, seed=${seed}${limit})`
      : `    run = reknit.recover(scenario, planner, seed=${seed}${limit})`,
    later.length ? "    print(planner, run.reconnected_at_s)" : "    print(planner, run.flight.reconnected_at_s)",
    "",
  ].join("\n");
  const listed = word(names.join(","));
  const most = budget === null ? "" : ` --budget ${budget}`;
  if (later.length) {
    const given = strikes.map(({ time_s, uavs }) => ` --strike ${word(`${time_s}:uavs=${uavs.map(called).join(",")}`)}`).join("");
    const lines = names.map((name) => `reknit recover scenario.json --planner ${word(name)} --seed ${seed}${most}${given}\n`);
    return { python, shell: saved + lines.join("") };
  }
  const shell = `${saved}reknit compare scenario.json --planners ${listed} --seed ${seed}${most} --out compare`;
  return { python, shell };
}
