/** Where the map is looked at from: shift and zoom, and in 3-D two angles. */

export class Camera {
  constructor() {
    this.centre = [0, 0, 0];
    this.scale = 1;
    this.yaw = 0.6;
    this.pitch = 1.0;
    this.dim = 2;
    this.width = 1;
    this.height = 1;
    /** @type {number} Pixels per metre at which the whole swarm fits. */
    this.fitted = 1;
    this.shiftX = 0;
    this.shiftY = 0;
  }

  /**
   * Look at the whole swarm.
   * @param {number[][]} rows
   * @param {number} dim
   */
  fit(rows, dim) {
    this.dim = dim;
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (const row of rows) {
      for (let k = 0; k < dim; k++) {
        low[k] = Math.min(low[k], row[k]);
        high[k] = Math.max(high[k], row[k]);
      }
    }
    this.centre = [0, 1, 2].map((k) => (k < dim ? (low[k] + high[k]) / 2 : 0));
    const flatSize = dim === 3 ? Math.hypot(...[0, 1, 2].map((k) => high[k] - low[k])) : 0;
    this.wide = dim === 3 ? flatSize : high[0] - low[0];
    this.tall = dim === 3 ? flatSize : high[1] - low[1];
    this.refit();
  }

  /** Fit again after the canvas changed its size. */
  refit() {
    const wide = Math.max(this.wide ?? 1, 1e-6);
    const tall = Math.max(this.tall ?? 1, 1e-6);
    this.fitted = 0.88 * Math.min(this.width / wide, this.height / tall);
    if (!Number.isFinite(this.fitted) || this.fitted <= 0) this.fitted = 1;
    this.scale = this.fitted;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const zoom = this.scale / this.fitted;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.refit();
    this.scale *= zoom;
  }

  /** Another text as soon as anything is seen elsewhere. */
  get stamp() {
    return [...this.centre, this.scale, this.yaw, this.pitch, this.dim, this.width, this.height].join(" ");
  }

  /**
   * The map as a matrix: what one metre along each axis does on the screen. Beside it `shiftX`
   * and `shiftY`, so that x[0] * px + y[0] * py + z[0] * pz + shiftX is `project` without
   * making a pair for every point.
   */
  axes() {
    const [cx, cy, cz] = this.centre;
    const s = this.scale;
    const sin = Math.sin(this.yaw);
    const cos = Math.cos(this.yaw);
    const tilt = Math.cos(this.pitch);
    const flatView = this.dim === 2;
    const x = flatView ? [s, 0] : [s * cos, -s * sin * tilt];
    const y = flatView ? [0, -s] : [-s * sin, -s * cos * tilt];
    const z = flatView ? [0, 0] : [0, -s * Math.sin(this.pitch)];
    this.shiftX = this.width / 2 - (x[0] * cx + y[0] * cy + z[0] * cz);
    this.shiftY = this.height / 2 - (x[1] * cx + y[1] * cy + z[1] * cz);
    return { x, y, z };
  }

  /**
   * Screen position of a point, as [x, y].
   * @param {number} x
   * @param {number} y
   * @param {number} z
   * @returns {[number, number]}
   */
  project(x, y, z) {
    const dx = x - this.centre[0];
    const dy = y - this.centre[1];
    if (this.dim === 2) {
      return [this.width / 2 + dx * this.scale, this.height / 2 - dy * this.scale];
    }
    const dz = z - this.centre[2];
    const across = dx * Math.cos(this.yaw) - dy * Math.sin(this.yaw);
    const away = dx * Math.sin(this.yaw) + dy * Math.cos(this.yaw);
    const up = dz * Math.sin(this.pitch) + away * Math.cos(this.pitch);
    return [this.width / 2 + across * this.scale, this.height / 2 - up * this.scale];
  }

  /**
   * The point of the plane through the centre that is seen at a place of the screen.
   * @param {number} sx
   * @param {number} sy
   * @returns {number[]}
   */
  unproject(sx, sy) {
    const across = (sx - this.width / 2) / this.scale;
    const up = (this.height / 2 - sy) / this.scale;
    if (this.dim === 2) return [this.centre[0] + across, this.centre[1] + up];
    const away = up / Math.max(0.05, Math.cos(this.pitch));
    return [
      this.centre[0] + across * Math.cos(this.yaw) + away * Math.sin(this.yaw),
      this.centre[1] - across * Math.sin(this.yaw) + away * Math.cos(this.yaw),
      this.centre[2],
    ];
  }

  /**
   * Zoom about a place of the screen.
   * @param {number} factor
   * @param {number} sx
   * @param {number} sy
   */
  zoom(factor, sx, sy) {
    const scale = Math.min(this.fitted * 200, Math.max(this.fitted * 0.2, this.scale * factor));
    if (this.dim === 2) {
      const [x, y] = this.unproject(sx, sy);
      this.scale = scale;
      const [nx, ny] = this.unproject(sx, sy);
      this.centre[0] += x - nx;
      this.centre[1] += y - ny;
    } else {
      this.scale = scale;
    }
  }

  /**
   * Shift by pixels; in 3-D turn instead.
   * @param {number} dx
   * @param {number} dy
   */
  drag(dx, dy) {
    if (this.dim === 3) {
      this.yaw += dx * 0.008;
      this.pitch = Math.min(Math.PI / 2, Math.max(0, this.pitch + dy * 0.008));
    } else {
      this.centre[0] -= dx / this.scale;
      this.centre[1] += dy / this.scale;
    }
  }
}
