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
    this.ground = 0;
    /** @type {WeakMap<object, {stamp: string, words: Uint32Array | null}>} */
    this.layers = new WeakMap();
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
    this.ground = ground;
  }

  /**
   * What is under everything else and the same from frame to frame: painted once, then copied.
   * @param {object} owner Whose it is; forgotten with it.
   * @param {string} stamp It is painted anew when this changes.
   * @param {() => void} paint
   */
  layer(owner, stamp, paint) {
    const known = this.layers.get(owner);
    if (known?.stamp === stamp && known.words) {
      this.words.set(known.words);
      return;
    }
    this.words.fill(this.ground);
    paint();
    // A map that is being moved is another every time: only what comes twice is worth keeping.
    this.layers.set(owner, { stamp, words: known?.stamp === stamp ? this.words.slice() : null });
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
    const { words } = this;
    const limit = isSteep ? this.height : this.width;
    const across = isSteep ? this.width : this.height;
    const step = isSteep ? this.width : 1;
    const stride = isSteep ? 1 : this.width;
    const outer = colour & 0xff00ff;
    const green = colour & 0x00ff00;
    const slant = Math.sqrt(1 + slope * slope);
    const half = 0.5 * width * ratio * slant;
    const alpha = 256 * ((colour >>> 24) / 255) * Math.min(1, (2 * half) / slant);
    const reach = half + 0.5;
    const first = Math.max(0, Math.round(begin));
    const last = Math.min(limit - 1, Math.round(end));
    for (let at = first; at <= last; at++) {
      const middle = side + slope * (at - begin);
      const low = Math.max(0, Math.ceil(middle - reach));
      const high = Math.min(across - 1, Math.floor(middle + reach));
      for (let pixel = low; pixel <= high; pixel++) {
        const cover = reach - Math.abs(pixel - middle);
        const place = at * step + pixel * stride;
        words[place] = mixed(words[place], outer, green, cover >= 1 ? alpha : alpha * cover);
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
    const cx = x * ratio - 0.5;
    const cy = y * ratio - 0.5;
    const r = radius * ratio;
    const reach = r + 0.5;
    const full = Math.max(0, r - 0.5);
    const outer = colour & 0xff00ff;
    const green = colour & 0x00ff00;
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
          const place = py * width + px;
          words[place] = mixed(words[place], outer, green, 256 * Math.min(1, reach - Math.sqrt(square)));
        }
      }
    }
  }

  /** @param {CanvasRenderingContext2D} ink */
  end(ink) {
    ink.putImageData(this.image, 0, 0);
  }
}

/**
 * A pixel with some of another colour in it: red and blue in one product, green in a second.
 * What runs over into the bits between them is cut off.
 * @param {number} under
 * @param {number} outer Red and blue of the colour.
 * @param {number} green
 * @param {number} share Of 256.
 */
function mixed(under, outer, green, share) {
  const rest = under & 0xff00ff;
  const middle = under & 0x00ff00;
  const part = share | 0;
  return (
    ((rest + (Math.imul(outer - rest, part) >> 8)) & 0xff00ff) |
    ((middle + (Math.imul(green - middle, part) >> 8)) & 0x00ff00) |
    0xff000000
  );
}
