/** Breaking and shaping the swarm by hand: click, disc, corridor, lasso, add, move, remove. */

import { projectAll } from "./draw.js";
import { currentMode } from "./dom.js";
import { THEME } from "./draw.js";
import { dimension, flat, withAdded, withDestroyed, withMoved, withoutUavs } from "./scenario.js";

/** @import { Panel, Stage } from "./stage.js" */
/** @import { Scenario } from "./types.js" */

/** @typedef {"click" | "disc" | "corridor" | "lasso" | "add" | "move" | "remove" | "pan"} Tool */

export class Editor {
  /**
   * @param {Stage} stage
   * @param {HTMLElement} tip
   * @param {(scenario: Scenario, what: string) => void} onChange
   */
  constructor(stage, tip, onChange) {
    this.stage = stage;
    this.tip = tip;
    this.onChange = onChange;
    /** @type {Tool} */
    this.tool = "click";
    this.brush = 60;
    /** @type {number[][]} Screen positions of the stroke that is being drawn. */
    this.stroke = [];
    this.held = -1;
    this.cursor = -1;
    /** @type {Map<number, number[]>} */
    this.pointers = new Map();
    /** @type {{panel: Panel, row: number} | null} The UAV under the pointer. */
    this.hovered = null;
    this.enabled = true;
    stage.grid.addEventListener("pointerdown", (event) => this.down(event));
    stage.grid.addEventListener("pointermove", (event) => this.move(event));
    stage.grid.addEventListener("pointerup", (event) => this.up(event));
    stage.grid.addEventListener("pointercancel", (event) => this.up(event));
    stage.grid.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.tip.hidden = true; // a finger leaves when it is lifted
    });
    stage.grid.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.grid.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * The panel and the place in it that an event is about.
   * @param {MouseEvent} event
   * @returns {{panel: Panel, x: number, y: number} | null}
   */
  place(event) {
    const panel = this.stage.panels.find((one) => one.canvas === event.target) ?? this.active;
    if (!panel) return null;
    const box = panel.canvas.getBoundingClientRect();
    return { panel, x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (!(event.target instanceof HTMLCanvasElement)) return;
    const at = this.place(event);
    if (!at) return;
    this.active = at.panel;
    this.pointers.set(event.pointerId, [at.x, at.y]);
    event.target.setPointerCapture(event.pointerId);
    this.tip.hidden = true;
    if (this.pointers.size === 2) {
      this.stroke = [];
      return;
    }
    const usesTool = this.enabled && !at.panel.run && this.tool !== "pan" && event.button === 0;
    this.isPanning = !usesTool;
    this.last = [at.x, at.y];
    if (!usesTool) {
      if (event.pointerType === "touch") this.hover(at.panel, at.x, at.y, event); // a finger cannot hover
      return;
    }
    if (this.tool === "move" || this.tool === "remove") this.held = this.idAt(at.x, at.y);
    this.stroke = [[at.x, at.y]];
    this.stage.draw();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const at = this.place(event);
    if (!at) return;
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(at.panel, at.x, at.y, event);
      return;
    }
    if (this.pointers.size === 2) {
      this.pinch(event.pointerId, at.x, at.y);
    } else if (this.isPanning) {
      this.stage.camera.drag(at.x - before[0], at.y - before[1]);
    } else if (this.stroke.length) {
      this.stroke.push([at.x, at.y]);
      if (this.tool === "move" && this.held >= 0 && this.stage.scenario) {
        const point = this.pointAt(at.x, at.y, this.held);
        this.stage.showScenario(withMoved(this.stage.scenario, this.held, point), false);
      }
    }
    this.pointers.set(event.pointerId, [at.x, at.y]);
    this.stage.draw();
  }

  /**
   * Two fingers: zoom and shift.
   * @param {number} id
   * @param {number} x
   * @param {number} y
   */
  pinch(id, x, y) {
    const moved = this.pointers.get(id);
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    if (!moved || !other) return;
    const was = Math.hypot(moved[0] - other[0], moved[1] - other[1]);
    const is = Math.hypot(x - other[0], y - other[1]);
    this.stage.camera.zoom(is / Math.max(was, 1), (x + other[0]) / 2, (y + other[1]) / 2);
    this.stage.camera.drag((x - moved[0]) / 2, (y - moved[1]) / 2);
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pointers.delete(event.pointerId);
    const scenario = this.stage.scenario;
    const stroke = this.stroke;
    this.stroke = [];
    if (!stroke.length || !scenario || this.isPanning) return;
    const [x, y] = stroke[stroke.length - 1];
    if (this.tool === "click") {
      const id = this.idAt(x, y);
      if (id >= 0) this.toggle(id);
    } else if (this.tool === "disc" || this.tool === "corridor" || this.tool === "lasso") {
      this.strike(stroke);
    } else if (this.tool === "add") {
      this.onChange(withAdded(scenario, this.pointAt(x, y, -1)), "UAV added");
    } else if (this.tool === "move" && this.held >= 0) {
      this.onChange(scenario, "UAV moved");
    } else if (this.tool === "remove" && this.held >= 0) {
      this.onChange(withoutUavs(scenario, [this.held]), "UAV removed");
    }
    this.held = -1;
    this.stage.draw();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const at = this.place(event);
    if (!at || !(event.target instanceof HTMLCanvasElement)) return;
    event.preventDefault();
    this.stage.camera.zoom(Math.exp(-event.deltaY * 0.0015), at.x, at.y);
    this.stage.draw();
  }

  /**
   * A map can be used without a pointer: arrows walk from UAV to UAV, space strikes.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const panel = this.stage.panels[0];
    const scenario = this.stage.scenario;
    if (!panel || panel.run || !scenario || event.target !== panel.canvas) return;
    const { camera } = this.stage;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step && event.shiftKey) camera.drag(-step[0] * 40, -step[1] * 40);
    else if (step) this.walk(step[0], step[1]);
    else if (event.key === "+" || event.key === "=") camera.zoom(1.25, camera.width / 2, camera.height / 2);
    else if (event.key === "-") camera.zoom(0.8, camera.width / 2, camera.height / 2);
    else if (event.key === "0") camera.fit(scenario.positions_m, dimension(scenario));
    else if ((event.key === " " || event.key === "Enter") && this.cursor >= 0) this.toggle(this.cursor);
    else if (event.key === "Delete" && this.cursor >= 0) {
      const id = this.cursor;
      this.cursor = -1;
      this.onChange(withoutUavs(scenario, [id]), "UAV removed");
    } else return;
    event.preventDefault();
    this.stage.draw();
  }

  /**
   * To the nearest UAV in a direction of the screen.
   * @param {number} dx
   * @param {number} dy
   */
  walk(dx, dy) {
    const screen = this.screen();
    const { camera } = this.stage;
    const from = this.cursor >= 0 ? [screen[this.cursor * 2], screen[this.cursor * 2 + 1]] : [camera.width / 2, camera.height / 2];
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < screen.length / 2; i++) {
      const ax = screen[i * 2] - from[0];
      const ay = screen[i * 2 + 1] - from[1];
      const along = ax * dx + ay * dy;
      const aside = Math.abs(ax * dy) + Math.abs(ay * dx);
      if (i === this.cursor || along <= 0.5 || aside > 2 * along) continue;
      if (along + 2 * aside < least) {
        least = along + 2 * aside;
        best = i;
      }
    }
    if (best >= 0) this.cursor = best;
  }

  /** Screen positions of all UAVs, by id. */
  screen() {
    const scenario = this.stage.scenario;
    if (!scenario) return new Float32Array();
    const dim = dimension(scenario);
    return projectAll(this.stage.camera, flat(scenario.positions_m, dim), dim);
  }

  /**
   * The UAV, alive or lost, at a place of the screen; -1 if there is none.
   * @param {number} x
   * @param {number} y
   */
  idAt(x, y) {
    const screen = this.screen();
    let best = -1;
    let least = 18 * 18;
    for (let i = 0; i < screen.length / 2; i++) {
      const square = (screen[i * 2] - x) ** 2 + (screen[i * 2 + 1] - y) ** 2;
      if (square < least) {
        least = square;
        best = i;
      }
    }
    return best;
  }

  /**
   * A place of the screen in metres; in 3-D at the height of the UAV that is moved.
   * @param {number} x
   * @param {number} y
   * @param {number} id
   */
  pointAt(x, y, id) {
    const point = this.stage.camera.unproject(x, y);
    const height = this.stage.scenario?.positions_m[id]?.[2];
    if (point.length === 3 && height !== undefined) point[2] = height;
    return point;
  }

  /** @param {number} id */
  toggle(id) {
    const scenario = this.stage.scenario;
    if (!scenario) return;
    const lost = new Set(scenario.destroyed);
    if (!lost.delete(id)) lost.add(id);
    this.onChange(withDestroyed(scenario, lost), "strike");
  }

  /** @param {number[][]} stroke */
  strike(stroke) {
    const scenario = this.stage.scenario;
    if (!scenario) return;
    const screen = this.screen();
    const lost = new Set(scenario.destroyed);
    for (let i = 0; i < screen.length / 2; i++) {
      if (this.isHit(screen[i * 2], screen[i * 2 + 1], stroke)) lost.add(i);
    }
    this.onChange(withDestroyed(scenario, lost), "strike");
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number[][]} stroke
   */
  isHit(x, y, stroke) {
    if (this.tool === "lasso") return isInside(x, y, stroke);
    const points = this.tool === "corridor" ? [stroke[0], stroke[stroke.length - 1]] : stroke;
    const radius = this.tool === "corridor" ? this.brush / 2 : this.brush;
    return points.some((point, k) => distanceTo(x, y, point, points[k + 1] ?? point) <= radius);
  }

  /**
   * What is under the pointer.
   * @param {Panel} panel
   * @param {number} x
   * @param {number} y
   * @param {PointerEvent} event
   */
  hover(panel, x, y, event) {
    this.pointerAt = [x, y];
    const row = event.target === panel.canvas ? this.stage.uavAt(panel, x, y) : -1;
    if (panel.view && (this.hovered?.row !== row || this.hovered.panel !== panel)) this.stage.draw();
    this.hovered = { panel, row };
    this.tip.hidden = row < 0;
    if (row >= 0) {
      this.tip.textContent = this.stage.describeUav(panel, row);
      const left = Math.min(event.clientX + 14, window.innerWidth - 200);
      this.tip.style.setProperty("left", `${left}px`);
      this.tip.style.setProperty("top", `${Math.min(event.clientY + 14, window.innerHeight - 90)}px`);
    }
    if (!panel.run && (this.tool === "disc" || this.tool === "corridor")) this.stage.draw();
  }

  /**
   * The whole path of the UAV under the pointer, and a ring about the one whose belief is known.
   * @param {CanvasRenderingContext2D} ink
   * @param {Panel} panel
   */
  drawHovered(ink, panel) {
    const { view, picture } = panel;
    if (!view || !picture) return;
    const { camera } = this.stage;
    ink.strokeStyle = THEME[currentMode()].text;
    ink.lineWidth = 2;
    const observer = view.recovery.belief ? view.survivors.indexOf(view.recovery.belief.observer) : -1;
    const rows = this.hovered?.panel === panel ? [observer, this.hovered.row] : [observer];
    for (const row of rows) {
      if (row < 0) continue;
      const [x, y] = projectAll(camera, picture.points.slice(row * view.dim, (row + 1) * view.dim), view.dim);
      ink.beginPath();
      ink.arc(x, y, 10, 0, 2 * Math.PI);
      ink.stroke();
    }
    if (this.hovered?.panel !== panel || this.hovered.row < 0) return;
    const path = projectAll(camera, view.pathOf(this.hovered.row), view.dim);
    ink.beginPath();
    for (let k = 0; k < path.length; k += 2) ink.lineTo(path[k], path[k + 1]);
    ink.stroke();
  }

  /**
   * The brush, the stroke and the keyboard's place.
   * @param {CanvasRenderingContext2D} ink
   * @param {Panel} panel
   */
  overlay(ink, panel) {
    if (panel.run) {
      this.drawHovered(ink, panel);
      return;
    }
    const colour = THEME[currentMode()].proof;
    ink.strokeStyle = colour;
    ink.fillStyle = colour;
    ink.lineWidth = 1.5;
    const stroke = this.stroke;
    if (this.tool === "lasso" && stroke.length > 1) {
      ink.beginPath();
      stroke.forEach(([x, y], k) => (k ? ink.lineTo(x, y) : ink.moveTo(x, y)));
      ink.closePath();
      ink.globalAlpha = 0.15;
      ink.fill();
      ink.globalAlpha = 1;
      ink.stroke();
    } else if (this.tool === "disc" || this.tool === "corridor") {
      const last = stroke[stroke.length - 1] ?? this.pointerAt;
      if (last && this.tool === "disc") {
        ink.globalAlpha = 0.15;
        for (const [x, y] of stroke.length ? stroke : []) {
          ink.beginPath();
          ink.arc(x, y, this.brush, 0, 2 * Math.PI);
          ink.fill();
        }
        ink.globalAlpha = 1;
        ink.beginPath();
        ink.arc(last[0], last[1], this.brush, 0, 2 * Math.PI);
        ink.stroke();
      } else if (stroke.length) {
        ink.globalAlpha = 0.3;
        ink.lineWidth = this.brush;
        ink.lineCap = "round";
        ink.beginPath();
        ink.moveTo(stroke[0][0], stroke[0][1]);
        ink.lineTo(last?.[0] ?? 0, last?.[1] ?? 0);
        ink.stroke();
        ink.globalAlpha = 1;
        ink.lineCap = "butt";
      }
    }
    if (this.cursor >= 0 && document.activeElement === panel.canvas) {
      const screen = this.screen();
      ink.lineWidth = 2;
      ink.beginPath();
      ink.arc(screen[this.cursor * 2], screen[this.cursor * 2 + 1], 12, 0, 2 * Math.PI);
      ink.stroke();
    }
  }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number[]} a
 * @param {number[]} b
 */
function distanceTo(x, y, a, b) {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const square = dx * dx + dy * dy;
  const share = square ? Math.min(1, Math.max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / square)) : 0;
  return Math.hypot(x - a[0] - share * dx, y - a[1] - share * dy);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number[][]} polygon
 */
function isInside(x, y, polygon) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [ax, ay] = polygon[i];
    const [bx, by] = polygon[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
