/**
 * Paints the marks of a swarm pixel by pixel. Without a graphics card this is many times faster
 * than a canvas's paths or a WebGL that is itself computed: thin lines and small dots need no more
 * than their coverage of the few pixels they touch.
 */

export class PixelPainter {
  constructor() {
    this.image = new ImageData(1, 1);
    this.words = new Uint32Array(this.image.data.buffer);
    this.width = 1;
    this.height = 1;
    this.ratio = 1;
  }

  /**
   * @param {number} width CSS pixels.
   * @param {number} height
   * @param {number} ratio Device pixels per CSS pixel.
   * @param {number} ground See `packed`.
   */
  begin(width, height, ratio, ground) {
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (this.width !== w || this.height !== h) {
      this.image = new ImageData(w, h);
      this.words = new Uint32Array(this.image.data.buffer);
      this.width = w;
      this.height = h;
    }
    this.ratio = ratio;
    this.words.fill(ground);
  }

  /**
   * A line with smooth sides: at every pixel along its steeper axis, the pixels beside it by how
   * much of them it covers.
   * @param {number} x1
   * @param {number} y1
   * @param {number} x2
   * @param {number} y2
   * @param {number} width
   * @param {number} colour See `packed`.
   */
  line(x1, y1, x2, y2, width, colour) {
    const { ratio } = this;
    const dx = (x2 - x1) * ratio;
    const dy = (y2 - y1) * ratio;
    const isSteep = Math.abs(dy) > Math.abs(dx);
    const major = isSteep ? dy : dx;
    if (major === 0) return;
    const slope = (isSteep ? dx : dy) / major;
    let begin = (isSteep ? y1 : x1) * ratio - 0.5;
    let side = (isSteep ? x1 : y1) * ratio - 0.5;
    let end = begin + major;
    if (end < begin) {
      side += slope * (end - begin);
      [begin, end] = [end, begin];
    }
    const { data } = this.image;
    const limit = isSteep ? this.height : this.width;
    const across = isSteep ? this.width : this.height;
    const step = isSteep ? this.width * 4 : 4;
    const stride = isSteep ? 4 : this.width * 4;
    const red = colour & 255;
    const green = (colour >> 8) & 255;
    const blue = (colour >> 16) & 255;
    const slant = Math.sqrt(1 + slope * slope);
    const half = 0.5 * width * ratio * slant;
    const alpha = ((colour >>> 24) / 255) * Math.min(1, (2 * half) / slant);
    const reach = half + 0.5;
    const first = Math.max(0, Math.round(begin));
    const last = Math.min(limit - 1, Math.round(end));
    for (let at = first; at <= last; at++) {
      const middle = side + slope * (at - begin);
      const low = Math.max(0, Math.ceil(middle - reach));
      const high = Math.min(across - 1, Math.floor(middle + reach));
      for (let pixel = low; pixel <= high; pixel++) {
        const cover = reach - Math.abs(pixel - middle);
        const share = cover >= 1 ? alpha : alpha * cover;
        const place = at * step + pixel * stride;
        data[place] += (red - data[place]) * share;
        data[place + 1] += (green - data[place + 1]) * share;
        data[place + 2] += (blue - data[place + 2]) * share;
      }
    }
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {number} colour
   */
  dot(x, y, radius, colour) {
    const { ratio, width, words } = this;
    const { data } = this.image;
    const cx = x * ratio - 0.5;
    const cy = y * ratio - 0.5;
    const r = radius * ratio;
    const reach = r + 0.5;
    const full = Math.max(0, r - 0.5);
    const red = colour & 255;
    const green = (colour >> 8) & 255;
    const blue = (colour >> 16) & 255;
    const bottom = Math.min(this.height - 1, Math.floor(cy + reach));
    const right = Math.min(width - 1, Math.floor(cx + reach));
    for (let py = Math.max(0, Math.ceil(cy - reach)); py <= bottom; py++) {
      const dy = py - cy;
      for (let px = Math.max(0, Math.ceil(cx - reach)); px <= right; px++) {
        const dx = px - cx;
        const square = dx * dx + dy * dy;
        if (square <= full * full) {
          words[py * width + px] = colour;
        } else if (square < reach * reach) {
          const share = Math.min(1, reach - Math.sqrt(square));
          const place = (py * width + px) * 4;
          data[place] += (red - data[place]) * share;
          data[place + 1] += (green - data[place + 1]) * share;
          data[place + 2] += (blue - data[place + 2]) * share;
        }
      }
    }
  }

  /** @param {CanvasRenderingContext2D} ink */
  end(ink) {
    ink.putImageData(this.image, 0, 0);
  }
}
