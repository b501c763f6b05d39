/** The radio network, computed here as the package computes it: links, sub-nets, critical UAVs. */

/** @typedef {{links: Int32Array, label: Int32Array, count: number, sizes: Int32Array}} Network */

/**
 * Pairs of points at most `range` apart, found through a grid of cells of that size.
 * A link is sqrt(dx*dx + dy*dy [+ dz*dz]) <= range, as everywhere in reknit.
 * @param {Float64Array} points Coordinates, `dim` per point.
 * @param {number} dim
 * @param {number} range
 * @returns {Int32Array} i, j, i, j, ... with i < j.
 */
export function findLinks(points, dim, range) {
  const count = points.length / dim;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < dim; k++) {
      const value = points[i * dim + k];
      if (value < low[k]) low[k] = value;
      if (value > high[k]) high[k] = value;
    }
  }
  // Cells a hair larger than the range, so that rounding never puts neighbours two cells apart.
  const size = range * (1 + 1e-9);
  const wide = Math.floor((high[0] - low[0]) / size) + 3;
  const tall = Math.floor((high[1] - low[1]) / size) + 3;
  const key = new Float64Array(count);
  const after = new Int32Array(count);
  /** @type {Map<number, number>} The last point of each cell; `after` chains the others. */
  const cells = new Map();
  for (let i = 0; i < count; i++) {
    const a = Math.floor((points[i * dim] - low[0]) / size) + 1;
    const b = Math.floor((points[i * dim + 1] - low[1]) / size) + 1;
    const c = dim === 3 ? Math.floor((points[i * 3 + 2] - low[2]) / size) + 1 : 0;
    key[i] = a + wide * (b + tall * c);
    after[i] = cells.get(key[i]) ?? -1;
    cells.set(key[i], i);
  }
  /** @type {number[]} */
  const shifts = [];
  for (let c = dim === 3 ? -1 : 0; c <= (dim === 3 ? 1 : 0); c++) {
    for (let b = -1; b <= 1; b++) for (let a = -1; a <= 1; a++) shifts.push(a + wide * (b + tall * c));
  }
  let pairs = new Int32Array(Math.max(64, count * 12));
  let used = 0;
  for (let i = 0; i < count; i++) {
    const x = points[i * dim];
    const y = points[i * dim + 1];
    for (const shift of shifts) {
      // Every chain falls in number, so the rest of one is below i as soon as its head is.
      for (let j = cells.get(key[i] + shift) ?? -1; j > i; j = after[j]) {
        const dx = x - points[j * dim];
        const dy = y - points[j * dim + 1];
        let square = dx * dx + dy * dy;
        if (dim === 3) {
          const dz = points[i * 3 + 2] - points[j * 3 + 2];
          square += dz * dz;
        }
        if (Math.sqrt(square) <= range) {
          if (used + 2 > pairs.length) {
            const larger = new Int32Array(pairs.length * 2);
            larger.set(pairs);
            pairs = larger;
          }
          pairs[used++] = i;
          pairs[used++] = j;
        }
      }
    }
  }
  return pairs.slice(0, used);
}

/**
 * Which sub-net each point is in, numbered by falling size.
 * @param {number} count
 * @param {Int32Array} links
 * @returns {Network}
 */
export function findSubnets(count, links) {
  const parent = new Int32Array(count);
  for (let i = 0; i < count; i++) parent[i] = i;
  /** @param {number} i */
  const root = (i) => {
    while (parent[i] !== i) {
      parent[i] = parent[parent[i]];
      i = parent[i];
    }
    return i;
  };
  for (let k = 0; k < links.length; k += 2) {
    const a = root(links[k]);
    const b = root(links[k + 1]);
    if (a !== b) parent[Math.max(a, b)] = Math.min(a, b);
  }
  /** @type {Map<number, number>} */
  const sizeOf = new Map();
  for (let i = 0; i < count; i++) {
    const r = root(i);
    sizeOf.set(r, (sizeOf.get(r) ?? 0) + 1);
  }
  const roots = [...sizeOf.keys()].sort(
    (a, b) => (sizeOf.get(b) ?? 0) - (sizeOf.get(a) ?? 0) || a - b,
  );
  const rank = new Map(roots.map((r, k) => [r, k]));
  const label = new Int32Array(count);
  for (let i = 0; i < count; i++) label[i] = rank.get(root(i)) ?? 0;
  const sizes = Int32Array.from(roots, (r) => sizeOf.get(r) ?? 0);
  return { links, label, count: roots.length, sizes };
}

/**
 * @param {Float64Array} points
 * @param {number} dim
 * @param {number} range
 * @returns {Network}
 */
export function networkOf(points, dim, range) {
  return findSubnets(points.length / dim, findLinks(points, dim, range));
}

/**
 * UAVs by how much their loss hurts: those whose loss alone splits the network, then by links.
 * @param {number} count
 * @param {Int32Array} links
 * @returns {number[]}
 */
export function byImportance(count, links) {
  const near = neighbours(count, links);
  const cut = articulations(count, near);
  const order = Array.from({ length: count }, (_, i) => i);
  return order.sort((a, b) => cut[b] - cut[a] || near[b].length - near[a].length || a - b);
}

/**
 * Articulation points, by a depth-first search without recursion.
 * @param {number} count
 * @param {number[][]} near
 * @returns {Uint8Array}
 */
function articulations(count, near) {
  const seen = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const parent = new Int32Array(count).fill(-1);
  const next = new Int32Array(count);
  const cut = new Uint8Array(count);
  let clock = 0;
  for (let start = 0; start < count; start++) {
    if (seen[start] >= 0) continue;
    let children = 0;
    const stack = [start];
    seen[start] = low[start] = clock++;
    while (stack.length) {
      const v = stack[stack.length - 1];
      if (next[v] < near[v].length) {
        const w = near[v][next[v]++];
        if (seen[w] < 0) {
          parent[w] = v;
          seen[w] = low[w] = clock++;
          if (v === start) children++;
          stack.push(w);
        } else if (w !== parent[v]) {
          low[v] = Math.min(low[v], seen[w]);
        }
      } else {
        stack.pop();
        const p = parent[v];
        if (p >= 0) {
          low[p] = Math.min(low[p], low[v]);
          if (p !== start && low[v] >= seen[p]) cut[p] = 1;
        }
      }
    }
    if (children > 1) cut[start] = 1;
  }
  return cut;
}

/**
 * A repeatable stream of numbers in [0, 1).
 * @param {number} seed
 */
export function randomStream(seed) {
  let state = (seed >>> 0) + 0x6d2b79f5;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Points whose loss alone splits their sub-net.
 * @param {number} count
 * @param {Int32Array} links
 * @returns {number[]}
 */
export function cutNodes(count, links) {
  const cut = articulations(count, neighbours(count, links));
  return [...cut.keys()].filter((i) => cut[i]);
}

/**
 * @param {number} count
 * @param {Int32Array} links
 */
function neighbours(count, links) {
  /** @type {number[][]} */
  const near = Array.from({ length: count }, () => []);
  for (let k = 0; k < links.length; k += 2) {
    near[links[k]].push(links[k + 1]);
    near[links[k + 1]].push(links[k]);
  }
  return near;
}

/**
 * Branch k of ML-DAGL's damage-attentive graph: pairs of a survivor and a destroyed UAV that were
 * at most k hops apart before the damage.
 * @param {number} count
 * @param {Int32Array} links Of the swarm before the damage.
 * @param {Set<number>} lost
 * @param {number} hops
 * @returns {[number, number][]}
 */
export function damagePairs(count, links, lost, hops) {
  const near = neighbours(count, links);
  /** @type {[number, number][]} */
  const pairs = [];
  const depth = new Int32Array(count);
  for (const start of lost) {
    depth.fill(-1);
    depth[start] = 0;
    const queue = [start];
    for (let head = 0; head < queue.length; head++) {
      const i = queue[head];
      if (depth[i] === hops) continue;
      for (const j of near[i]) {
        if (depth[j] >= 0) continue;
        depth[j] = depth[i] + 1;
        queue.push(j);
        if (!lost.has(j)) pairs.push([j, start]);
      }
    }
  }
  return pairs;
}
