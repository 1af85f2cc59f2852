// The map: points, links, the lasso, and everything a pointer or a key does to them.
import { Camera } from "./camera.js";
import { element } from "./dom.js";
import { Nearby } from "./nearby.js";
import { drawOverlay } from "./overlay.js";
import { Scatter } from "./scatter.js";

const PULSE_MS = 1400;
const PAN_STEP = 60, CURSOR_STEP = 16;

export class PointMap {
  // hooks: onHover(point, x, y), onSelect(points), onPick(point)
  constructor(places, axes, hooks) {
    this.places = places;
    this.hooks = hooks;
    this.points = element("canvas", { class: "points" });
    this.overlay = element("canvas", { class: "overlay" });
    this.box = element("div", {
      class: "map", tabindex: "0", role: "application",
      "aria-label": "Map of the points. Arrows move it, plus and minus zoom, L starts a lasso.",
    }, this.points, this.overlay);
    if (axes.length === 2) {
      this.box.append(element("span", { class: "axis x" }, axes[0]), element("span", { class: "axis y" }, axes[1]));
    }
    this.camera = new Camera();
    this.scatter = new Scatter(this.points, places);
    this.nearby = new Nearby(places);
    this.lines = [];
    this.pair = null;
    this.hovered = -1;
    this.isLasso = false;
    this.lasso = null;
    this.cursor = null;
    this.pulseStart = -Infinity;
    this.hasQuiet = false;
    this.frame = 0;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.points, this.overlay]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    Object.assign(this.camera, { width, height });
    this.ratio = ratio;
    this.drawNow();
  }

  // Smaller where there are many or the map is small, larger where one looks closely.
  pointSize() {
    const room = Math.min(1.2, Math.sqrt(this.camera.width * this.camera.height) / 700);
    const base = Math.min(11, Math.max(2.2, room * 115 * Math.pow(this.places.length / 2, -0.4)));
    return Math.min(18, base * Math.pow(this.camera.zoom, 0.35)) * (this.ratio ?? 1);
  }

  paint(rgb, shapes, modes, hasQuiet, pulse) {
    this.scatter.paint(rgb, shapes, modes);
    this.hasQuiet = hasQuiet;
    if (pulse && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.pulseStart = performance.now();
    this.redraw();
  }

  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.drawNow(); });
  }

  drawNow() {
    const passed = (performance.now() - this.pulseStart) / PULSE_MS;
    const pulse = passed < 1 ? 0.9 * (1 - passed) : 0;
    this.scatter.draw(this.camera, this.pointSize(), 0.35 + pulse, this.hasQuiet ? 0.16 : 1);
    drawOverlay(this);
    if (passed < 1) this.redraw();
  }

  screenOf(point) {
    return this.camera.toScreen(this.places[2 * point], this.places[2 * point + 1]);
  }

  flyTo(points) {
    if (!points.length) return;
    const xs = points.map((i) => this.places[2 * i]), ys = points.map((i) => this.places[2 * i + 1]);
    this.camera.x = (Math.min(...xs) + Math.max(...xs)) / 2;
    this.camera.y = (Math.min(...ys) + Math.max(...ys)) / 2;
    const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 0.25);
    this.camera.zoom = Math.min(6, 1.3 / span);
    this.redraw();
  }

  zoomBy(factor) {
    this.camera.zoomAt(this.camera.width / 2, this.camera.height / 2, factor);
    this.redraw();
  }

  resetView() {
    this.camera.reset();
    this.redraw();
  }

  setLasso(isOn) {
    this.isLasso = isOn;
    this.lasso = null;
    this.cursor = null;
    this.box.classList.toggle("lasso", isOn);
    this.redraw();
  }

  finishLasso() {
    const polygon = (this.lasso ?? []).map(([x, y]) => this.camera.toPlace(x, y));
    this.lasso = null;
    this.cursor = null;
    this.hooks.onSelect(polygon.length > 2 ? this.nearby.inside(polygon) : []);
    this.redraw();
  }

  listen() {
    const pointers = new Map();
    const at = (event) => {
      const box = this.box.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let travelled = 0;
    this.box.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button, select")) return;
      this.box.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      travelled = 0;
      if (pointers.size === 1 && (this.isLasso || event.shiftKey)) this.lasso = [at(event)];
      else this.lasso = null;
    });
    this.box.addEventListener("pointermove", (event) => {
      const now = at(event), before = pointers.get(event.pointerId);
      if (!before) return this.hover(now);
      travelled += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (this.lasso) this.lasso.push(now);
      else if (pointers.size === 2) this.pinch(pointers, event.pointerId, now);
      else this.camera.pan(now[0] - before[0], now[1] - before[1]);
      pointers.set(event.pointerId, now);
      return this.redraw();
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId)) return;
      if (this.lasso && travelled > 8) this.finishLasso();
      else if (travelled <= 8 && event.type === "pointerup") {
        this.lasso = null;
        this.pick(at(event));
      }
    };
    this.box.addEventListener("pointerup", release);
    this.box.addEventListener("pointercancel", release);
    this.box.addEventListener("pointerleave", () => this.hover(null));
    this.box.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.camera.zoomAt(...at(event), Math.exp(-event.deltaY * 0.0015));
      this.redraw();
    }, { passive: false });
  }

  pinch(pointers, moved, now) {
    const other = [...pointers].find(([id]) => id !== moved)[1], before = pointers.get(moved);
    const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
    this.camera.zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, apart(now) / apart(before));
  }

  under(position) {
    const [x, y] = this.camera.toPlace(...position);
    return this.nearby.find(x, y, 10 / this.camera.unit());
  }

  hover(position) {
    const point = position ? this.under(position) : -1;
    if (point === this.hovered) return;
    this.hovered = point;
    this.hooks.onHover(point);
    this.redraw();
  }

  pick(position) {
    const point = this.under(position);
    if (point >= 0) this.hooks.onPick(point);
  }

  // Returns whether the key was for the map.
  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    if (this.isLasso && (arrow || event.key === " " || event.key === "Enter")) return this.cursorKey(event, arrow);
    if (arrow) this.camera.pan(-arrow[0] * PAN_STEP, -arrow[1] * PAN_STEP);
    else if (event.key === "+" || event.key === "=") this.camera.zoomAt(this.camera.width / 2, this.camera.height / 2, 1.3);
    else if (event.key === "-") this.camera.zoomAt(this.camera.width / 2, this.camera.height / 2, 1 / 1.3);
    else if (event.key === "0") this.camera.reset();
    else return false;
    this.redraw();
    return true;
  }

  // A lasso by keys: arrows move a cross, space sets a corner, enter closes the lasso.
  cursorKey(event, arrow) {
    this.cursor ??= [this.camera.width / 2, this.camera.height / 2];
    if (arrow) {
      const step = event.shiftKey ? 4 * CURSOR_STEP : CURSOR_STEP;
      this.cursor = [this.cursor[0] + arrow[0] * step, this.cursor[1] + arrow[1] * step];
    } else if (event.key === " ") this.lasso = [...(this.lasso ?? []), [...this.cursor]];
    else this.finishLasso();
    this.redraw();
    return true;
  }
}
