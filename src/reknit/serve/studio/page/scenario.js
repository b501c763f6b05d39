/** Scenarios: reading files, editing without side effects, and the link that holds one. */

/** @import { Scenario, Strike } from "./types.js" */

const MAX_LINK_LETTERS = 60000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** @param {Scenario} scenario */
export function dimension(scenario) {
  return scenario.positions_m[0]?.length === 3 ? 3 : 2;
}

/**
 * Ids of the survivors, ascending: the order of a plan's targets.
 * @param {Scenario} scenario
 */
export function survivorsOf(scenario) {
  const lost = new Set(scenario.destroyed);
  /** @type {number[]} */
  const ids = [];
  for (let i = 0; i < scenario.positions_m.length; i++) if (!lost.has(i)) ids.push(i);
  return ids;
}

/**
 * @param {number[][]} rows
 * @param {number} dim
 */
export function flat(rows, dim) {
  const values = new Float64Array(rows.length * dim);
  for (let i = 0; i < rows.length; i++) {
    for (let k = 0; k < dim; k++) values[i * dim + k] = rows[i][k];
  }
  return values;
}

/**
 * What a UAV is called.
 * @param {Scenario} scenario
 * @param {number} id
 */
export function nameOf(scenario, id) {
  return scenario.names?.[id] ?? String(id);
}

/**
 * The speed limit of a UAV.
 * @param {Scenario} scenario
 * @param {number} id
 */
export function speedOf(scenario, id) {
  const speed = scenario.max_speed_mps;
  if (scenario.anchors?.includes(id)) return 0;
  return Array.isArray(speed) ? speed[id] : speed;
}

/**
 * A scenario from the text of a JSON or CSV file; an Error that says what is wrong with it.
 * @param {string} text
 * @param {string} name
 * @returns {Scenario}
 */
export function readScenario(text, name) {
  if (text.length > MAX_FILE_BYTES) throw new Error(`${name} is larger than 64 MiB`);
  const scenario = /\.csv$/i.test(name) ? fromCsv(text) : fromJson(text);
  checkScenario(scenario);
  return scenario;
}

/** @param {string} text */
function fromJson(text) {
  /** @type {any} */
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`this is no JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (value === null || typeof value !== "object" || !Array.isArray(value.positions_m)) {
    throw new Error("positions_m is missing; a scenario file holds one row for every UAV in it");
  }
  const ids = new Map((value.names ?? []).map((/** @type {string} */ n, /** @type {number} */ i) => [n, i]));
  /** @param {any} id */
  const row = (id) => (typeof id === "string" ? ids.get(id) ?? -1 : id);
  return {
    ...value,
    destroyed: (value.destroyed ?? []).map(row),
    anchors: (value.anchors ?? []).map(row),
    radio_range_m: value.radio_range_m ?? (value.radio ? null : 120),
    max_speed_mps: value.max_speed_mps ?? 10,
  };
}

/**
 * `uav_id,x_m,y_m[,z_m],alive`
 * @param {string} text
 * @returns {Scenario}
 */
function fromCsv(text) {
  const lines = text.split(/\r?\n/);
  const head = (lines[0] ?? "").split(",").map((word) => word.trim());
  const want = ["uav_id,x_m,y_m,alive", "uav_id,x_m,y_m,z_m,alive"];
  if (!want.includes(head.join(","))) {
    throw new Error(`line 1 is "${head.join(",").slice(0, 60)}"; allowed: uav_id,x_m,y_m[,z_m],alive`);
  }
  /** @type {{name: string, point: number[], alive: boolean}[]} */
  const rows = [];
  lines.slice(1).forEach((line, k) => {
    if (!line.trim()) return;
    const words = cellsOf(line);
    const point = words.slice(1, -1).map(Number);
    const alive = { 1: true, true: true, 0: false, false: false }[words[words.length - 1].toLowerCase()];
    if (words.length !== head.length || point.some((x) => !Number.isFinite(x)) || alive === undefined) {
      throw new Error(`line ${k + 2} is "${line.slice(0, 60)}"; allowed: ${head.join(",")}`);
    }
    rows.push({ name: words[0], point, alive });
  });
  const numbers = rows.map((row) => Number(row.name));
  const plain = new Set(numbers).size === rows.length && numbers.every((id) => Number.isInteger(id) && id >= 0 && id < rows.length);
  const ordered = plain ? numbers.map((_, id) => rows[numbers.indexOf(id)]) : rows;
  return {
    positions_m: ordered.map((row) => row.point),
    destroyed: ordered.flatMap((row, id) => (row.alive ? [] : [id])),
    names: plain ? null : ordered.map((row) => row.name),
    radio_range_m: 120,
    max_speed_mps: 10,
  };
}

/**
 * The cells of a line of a table; one in quotes may hold commas.
 * @param {string} line
 */
function cellsOf(line) {
  const cells = line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain.trim());
}

/** @param {Scenario} scenario */
export function checkScenario(scenario) {
  const { positions_m: rows, destroyed } = scenario;
  if (!rows.length) throw new Error("positions_m is empty; allowed: at least one UAV");
  const dim = rows[0]?.length;
  rows.forEach((row, id) => {
    const whole = Array.isArray(row) && row.length === dim && (dim === 2 || dim === 3);
    if (!whole || !row.every((x) => typeof x === "number" && Math.abs(x) <= 1e9)) {
      throw new Error(`positions_m[${id}] is ${JSON.stringify(row)?.slice(0, 60)}; allowed: 2 or 3 finite numbers, the same for all`);
    }
  });
  for (const id of destroyed) {
    if (!Number.isInteger(id) || id < 0 || id >= rows.length) {
      throw new Error(`destroyed holds ${JSON.stringify(id)}; allowed: UAVs of this file`);
    }
  }
  if (destroyed.length >= rows.length) throw new Error("all UAVs are destroyed; allowed: at least one survivor");
}

/**
 * The scenario with other UAVs destroyed; at least one survives.
 * @param {Scenario} scenario
 * @param {Iterable<number>} ids
 * @returns {Scenario}
 */
export function withDestroyed(scenario, ids) {
  const destroyed = [...new Set(ids)].sort((a, b) => a - b);
  if (destroyed.length >= scenario.positions_m.length) destroyed.pop();
  return { ...scenario, destroyed };
}

/**
 * @param {Scenario} scenario
 * @param {number[]} point
 * @returns {Scenario}
 */
export function withAdded(scenario, point) {
  const speed = scenario.max_speed_mps;
  return {
    ...scenario,
    positions_m: [...scenario.positions_m, point],
    names: scenario.names ? [...scenario.names, `added-${scenario.positions_m.length}`] : scenario.names,
    max_speed_mps: Array.isArray(speed) ? [...speed, speed[speed.length - 1]] : speed,
  };
}

/**
 * @param {Scenario} scenario
 * @param {number} id
 * @param {number[]} point
 * @returns {Scenario}
 */
export function withMoved(scenario, id, point) {
  const positions_m = scenario.positions_m.slice();
  positions_m[id] = point;
  return { ...scenario, positions_m };
}

/**
 * The scenario without these UAVs; those after them move up.
 * @param {Scenario} scenario
 * @param {number[]} ids
 * @returns {Scenario}
 */
export function withoutUavs(scenario, ids) {
  const gone = new Set(ids);
  if (gone.size >= scenario.positions_m.length) return scenario;
  /** @type {Map<number, number>} */
  const place = new Map();
  scenario.positions_m.forEach((_, id) => {
    if (!gone.has(id)) place.set(id, place.size);
  });
  /** @param {number[]} list */
  const moved = (list) => list.flatMap((id) => (place.has(id) ? [place.get(id) ?? 0] : []));
  /** @template T @param {T[]} list */
  const kept = (list) => list.filter((_, id) => !gone.has(id));
  const speed = scenario.max_speed_mps;
  return {
    ...withDestroyed({ ...scenario, positions_m: kept(scenario.positions_m) }, moved(scenario.destroyed)),
    names: scenario.names ? kept(scenario.names) : scenario.names,
    anchors: moved(scenario.anchors ?? []),
    max_speed_mps: Array.isArray(speed) ? kept(speed) : speed,
  };
}

/**
 * Text as letters that may stand in a link.
 * @param {string} text
 */
async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} letters */
async function unpack(letters) {
  const binary = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  /** @type {BlobPart[]} */
  const parts = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    // A link of a few letters can unpack to gigabytes of zeros.
    if (size > MAX_FILE_BYTES) throw new Error("the link holds more than 64 MiB");
    parts.push(value);
  }
  return new Blob(parts).text();
}

/**
 * The fragment of a link that opens this view; null if the scenario is too large for a link.
 * @param {Scenario} scenario
 * @param {string[]} planners
 * @param {{seed: number, budget: number | null, strikes: Strike[]}} more
 */
export async function shareFragment(scenario, planners, more) {
  const letters = await pack(JSON.stringify({ scenario, planners, ...more }));
  return letters.length <= MAX_LINK_LETTERS ? `#view=${letters}` : null;
}

/**
 * What a link holds; null if it holds none.
 * @param {string} fragment
 * @returns {Promise<{scenario: Scenario, planners: string[], seed: number, budget: number | null, strikes: unknown} | null>}
 */
export async function readFragment(fragment) {
  const match = /^#view=([\w-]+)$/.exec(fragment);
  if (!match) return null;
  const value = JSON.parse(await unpack(match[1]));
  const scenario = fromJson(JSON.stringify(value.scenario ?? {}));
  checkScenario(scenario);
  const planners = Array.isArray(value.planners) ? value.planners.map(String).slice(0, 6) : [];
  const budget = typeof value.budget === "number" && value.budget > 0 ? value.budget : null;
  return { scenario, planners, seed: Number.isInteger(value.seed) ? value.seed : 0, budget, strikes: value.strikes };
}
