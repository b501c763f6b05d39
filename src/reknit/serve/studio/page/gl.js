/**
 * Draws the marks of a swarm with WebGL: every line in one call, every dot in another.
 * One hidden canvas serves all panels; each panel copies its picture from there.
 */

/** Floats per instance: a line is x1, y1, x2, y2, width, colour; a dot is x, y, radius, colour. */
const LINE_FLOATS = 6;
const DOT_FLOATS = 4;

const LINE_VERTEX = `#version 300 es
in vec2 corner;
in vec4 ends;
in float width;
in vec4 colour;
uniform vec2 size;
out vec4 paint;
out float across;
out float half_width;
void main() {
  vec2 way = ends.zw - ends.xy;
  float len = max(length(way), 1e-6);
  vec2 along = way / len;
  vec2 normal = vec2(-along.y, along.x);
  half_width = 0.5 * width;
  float reach = half_width + 0.5;
  across = corner.y * reach;
  vec2 place = mix(ends.xy, ends.zw, corner.x) + normal * across;
  gl_Position = vec4(2.0 * place.x / size.x - 1.0, 1.0 - 2.0 * place.y / size.y, 0.0, 1.0);
  paint = colour;
}`;

const LINE_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 paint;
in float across;
in float half_width;
out vec4 result;
void main() {
  float cover = clamp(half_width + 0.5 - abs(across), 0.0, 1.0) * min(1.0, 2.0 * half_width);
  float alpha = paint.a * cover;
  result = vec4(paint.rgb * alpha, alpha);
}`;

const DOT_VERTEX = `#version 300 es
in vec2 corner;
in vec3 dot_at;
in vec4 colour;
uniform vec2 size;
out vec4 paint;
out vec2 offset;
out float radius;
void main() {
  radius = dot_at.z;
  offset = (corner * vec2(2.0, 1.0) - vec2(1.0, 0.0)) * (radius + 1.0);
  vec2 place = dot_at.xy + offset;
  gl_Position = vec4(2.0 * place.x / size.x - 1.0, 1.0 - 2.0 * place.y / size.y, 0.0, 1.0);
  paint = colour;
}`;

const DOT_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 paint;
in vec2 offset;
in float radius;
out vec4 result;
void main() {
  float alpha = paint.a * clamp(radius + 0.5 - length(offset), 0.0, 1.0);
  result = vec4(paint.rgb * alpha, alpha);
}`;

/** A growing list of instances, filled anew for every picture. */
class Batch {
  /** @param {number} floats */
  constructor(floats) {
    this.floats = floats;
    this.room = 1024;
    this.numbers = new Float32Array(this.room * floats);
    this.colours = new Uint32Array(this.numbers.buffer);
    this.count = 0;
  }

  /** @param {number} more */
  reserve(more) {
    if (this.count + more <= this.room) return;
    this.room = Math.max(2 * this.room, this.count + more);
    const larger = new Float32Array(this.room * this.floats);
    larger.set(this.numbers.subarray(0, this.count * this.floats));
    this.numbers = larger;
    this.colours = new Uint32Array(larger.buffer);
  }
}

export class GlPainter {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.width = 1;
    this.height = 1;
    this.ratio = 1;
    this.lines = new Batch(LINE_FLOATS);
    this.dots = new Batch(DOT_FLOATS);
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.lineShape = this.shape(LINE_VERTEX, LINE_FRAGMENT, LINE_FLOATS, [["ends", 4], ["width", 1]]);
    this.dotShape = this.shape(DOT_VERTEX, DOT_FRAGMENT, DOT_FLOATS, [["dot_at", 3]]);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /**
   * A program and the layout of its instances; the last four bytes of one are its colour.
   * @param {string} vertex
   * @param {string} fragment
   * @param {number} floats
   * @param {[string, number][]} parts
   */
  shape(vertex, fragment, floats, parts) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
      const shader = gl.createShader(kind);
      if (!shader) throw new Error("this browser compiles no shader");
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    const corner = gl.getAttribLocation(program, "corner");
    gl.enableVertexAttribArray(corner);
    gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    let offset = 0;
    for (const [name, size] of parts) {
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, floats * 4, offset);
      gl.vertexAttribDivisor(place, 1);
      offset += size * 4;
    }
    const colour = gl.getAttribLocation(program, "colour");
    gl.enableVertexAttribArray(colour);
    gl.vertexAttribPointer(colour, 4, gl.UNSIGNED_BYTE, true, floats * 4, offset);
    gl.vertexAttribDivisor(colour, 1);
    gl.bindVertexArray(null);
    return { program, array, buffer, size: gl.getUniformLocation(program, "size") };
  }

  /**
   * @param {number} width CSS pixels.
   * @param {number} height
   * @param {number} ratio Device pixels per CSS pixel.
   * @param {number} ground See `packed`.
   */
  begin(width, height, ratio, ground) {
    const { gl } = this;
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (gl.canvas.width !== w || gl.canvas.height !== h) {
      gl.canvas.width = w;
      gl.canvas.height = h;
    }
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    gl.clearColor((ground & 255) / 255, ((ground >> 8) & 255) / 255, ((ground >> 16) & 255) / 255, 1);
    this.lines.count = this.dots.count = 0;
  }

  /**
   * What is under everything else; here as quick to paint as to keep.
   * @param {object} owner
   * @param {string} stamp
   * @param {() => void} paint
   */
  layer(owner, stamp, paint) {
    paint();
  }

  /**
   * @param {number} x1
   * @param {number} y1
   * @param {number} x2
   * @param {number} y2
   * @param {number} width
   * @param {number} colour See `packed`.
   */
  line(x1, y1, x2, y2, width, colour) {
    const batch = this.lines;
    batch.reserve(1);
    const at = batch.count++ * LINE_FLOATS;
    const { numbers } = batch;
    const { ratio } = this;
    numbers[at] = x1 * ratio;
    numbers[at + 1] = y1 * ratio;
    numbers[at + 2] = x2 * ratio;
    numbers[at + 3] = y2 * ratio;
    numbers[at + 4] = width * ratio;
    batch.colours[at + 5] = colour;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   * @param {number} colour
   */
  dot(x, y, radius, colour) {
    const batch = this.dots;
    batch.reserve(1);
    const at = batch.count++ * DOT_FLOATS;
    const { numbers } = batch;
    const { ratio } = this;
    numbers[at] = x * ratio;
    numbers[at + 1] = y * ratio;
    numbers[at + 2] = radius * ratio;
    batch.colours[at + 3] = colour;
  }

  /**
   * Paint what was collected, lines first, dots over them.
   * @param {CanvasRenderingContext2D} ink
   */
  end(ink) {
    const { gl } = this;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    for (const [shape, batch] of /** @type {const} */ ([[this.lineShape, this.lines], [this.dotShape, this.dots]])) {
      if (!batch.count) continue;
      gl.useProgram(shape.program);
      gl.uniform2f(shape.size, gl.canvas.width, gl.canvas.height);
      gl.bindVertexArray(shape.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, shape.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, batch.numbers.subarray(0, batch.count * batch.floats), gl.STREAM_DRAW);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, batch.count);
    }
    gl.bindVertexArray(null);
    ink.drawImage(gl.canvas, 0, 0, this.width, this.height);
  }
}

/** @type {Map<string, number>} */
const packedColours = new Map();

/**
 * A colour "#rrggbb" with an opacity as the four bytes of an instance.
 * @param {string} text
 * @param {number} alpha
 */
export function packed(text, alpha) {
  let rgb = packedColours.get(text);
  if (rgb === undefined) {
    const value = Number.parseInt(text.slice(1), 16);
    rgb = (value >> 16) | (value & 0xff00) | ((value & 0xff) << 16);
    packedColours.set(text, rgb);
  }
  return (rgb | (Math.round(alpha * 255) << 24)) >>> 0;
}

/** @type {GlPainter | null | undefined} */
let shared;

/**
 * The painter of this page; null where no graphics card does the work.
 * @returns {GlPainter | null}
 */
export function glPainter() {
  if (shared === undefined || shared?.gl.isContextLost()) {
    shared = null;
    try {
      shared = makeGlPainter(true);
    } catch {
      // A browser whose shaders do not compile has none for us.
    }
  }
  return shared;
}

/**
 * @param {boolean} isCardNeeded Refuse a WebGL that is computed by the processor.
 * @returns {GlPainter | null}
 */
export function makeGlPainter(isCardNeeded) {
  const gl = document.createElement("canvas").getContext("webgl2", {
    alpha: false, antialias: false, depth: false, failIfMajorPerformanceCaveat: isCardNeeded,
  });
  if (!gl || (isCardNeeded && isComputed(gl))) return null;
  return new GlPainter(gl);
}

/**
 * Whether the processor does what a graphics card should. Some browsers admit it only by name.
 * @param {WebGL2RenderingContext} gl
 */
function isComputed(gl) {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
