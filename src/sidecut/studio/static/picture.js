// Pictures: paint strokes of several colours, and see the segments that follow.
import { packBytes, saveFile, unpackNumbers } from "./arrays.js";
import { helpForPictures } from "./picture_help.js";
import { element, keyButton, swatch } from "./dom.js";
import { clusterColor, rgbOf } from "./palette.js";
import { followTheme } from "./theme.js";

const CLASSES = 8, STEP = 8;

export class PicturePage {
  constructor(root, call, opening) {
    Object.assign(this, { root, call, opening, current: 1, radius: Math.max(3, Math.round(opening.width / 120)), opacity: 0.45, isBusy: false, cursor: null });
    this.strokes = new Uint8Array(opening.width * opening.height);
    this.theme = followTheme(root, () => this.build());
    this.build();
    this.take(opening.state);
  }

  get isDark() {
    return this.theme.isDark();
  }

  build() {
    const { width, height, title, picture } = this.opening;
    this.canvas = element("canvas", { width, height, class: "paint", tabindex: "0", role: "application", "aria-label": "The picture. Paint with the mouse, or with arrows and Space." });
    this.photo = element("img", { src: picture, alt: title, draggable: "false" });
    this.frame = element("div", { class: "frame" }, this.photo, this.canvas);
    this.frame.style.setProperty("--ratio", String(width / height));
    this.words = element("p", { class: "status", role: "status", "aria-live": "polite" });
    this.brushes = element("div", { class: "brushes", role: "radiogroup", "aria-label": "Colour to paint with" });
    const opacity = element("input", { type: "range", min: "0", max: "100", value: String(100 * this.opacity), "aria-label": "How strongly the segments are tinted",
      oninput: () => { this.opacity = opacity.value / 100; this.draw(); } });
    this.size = element("input", { type: "range", min: "1", max: "40", value: String(this.radius), "aria-label": "Size of the brush", oninput: () => { this.radius = Number(this.size.value); } });
    this.undoButton = keyButton("Undo", "Z", () => this.undo(), { class: "quiet undo" });
    this.root.replaceChildren(
      element("header", {}, element("h1", {}, title), element("span", { class: "counts" }, `${width} × ${height} pixels`), this.words,
        element("button", { type: "button", class: "quiet theme", "aria-label": "Light or dark", onclick: () => this.theme.toggle() }, "◐"),
        element("button", { type: "button", class: "quiet help-button", "aria-label": "Keys", onclick: () => helpForPictures(this.root) }, "?")),
      element("main", { class: "picture-page" }, element("div", { class: "stage" }, this.frame), element("aside", { class: "panel" },
        element("div", { class: "panel-body" },
          element("h2", {}, "Paint"), this.brushes,
          element("label", { class: "slider" }, element("span", {}, "Brush"), this.size),
          element("label", { class: "slider" }, element("span", {}, "Tint"), opacity), this.undoButton,
          element("h2", {}, "Save"),
          element("div", { class: "exports" },
            element("button", { type: "button", "data-what": "labels", onclick: () => this.exportFile("labels") }, element("b", {}, "Labels"), element("span", {}, "a picture of segment numbers")),
            element("button", { type: "button", "data-what": "overlay", onclick: () => this.exportFile("overlay") }, element("b", {}, "Overlay"), element("span", {}, "the picture with its segments")),
            element("button", { type: "button", "data-what": "cutout", onclick: () => this.exportFile("cutout", { segment: this.current }) }, element("b", {}, "Cut-out"), element("span", {}, "the segment of the chosen colour, all else transparent"))),
          element("p", { class: "kept" }, this.opening.kept_in ? `Every stroke is kept in ${this.opening.kept_in}.` : "Nothing is kept on disk.")))));
    this.listen();
    if (this.state) this.take(this.state, true);
  }

  take(state, isOpen = false) {
    this.state = isOpen ? state : { ...state, strokes: unpackNumbers(state.strokes), segments: state.segments && unpackNumbers(state.segments) };
    this.strokes = this.state.strokes.slice();
    this.words.textContent = this.state.words;
    this.undoButton.disabled = !this.state.can_undo;
    this.fillBrushes();
    this.draw();
  }

  fillBrushes() {
    const choose = (number) => { this.current = number; this.fillBrushes(); };
    const brush = (number, label, mark) => element("button", { type: "button", class: "quiet brush", role: "radio", "aria-checked": String(this.current === number), "aria-keyshortcuts": String(number), onclick: () => choose(number) }, mark, element("span", {}, label), element("kbd", {}, String(number)));
    const total = this.strokes.length;
    this.brushes.replaceChildren(...Array.from({ length: CLASSES }, (_, k) => {
      const size = this.state?.sizes[k + 1];
      return brush(k + 1, size ? `${Math.round((100 * size) / total)} %` : "", swatch(clusterColor(k, false), 0));
    }), brush(0, "eraser", swatch("#9aa4b0", 5)));
  }

  draw() {
    const { width, height } = this.opening, paper = this.canvas.getContext("2d");
    const pixels = paper.createImageData(width, height), colors = Array.from({ length: CLASSES }, (_, k) => rgbOf(clusterColor(k, false)));
    const segments = this.state?.segments;
    for (let i = 0; i < this.strokes.length; i += 1) {
      const stroke = this.strokes[i], segment = segments ? segments[i] : 0;
      if (!stroke && !segment) continue;
      pixels.data.set(colors[(stroke || segment) - 1], 4 * i);
      pixels.data[4 * i + 3] = stroke ? 235 : 255 * this.opacity;
    }
    if (segments) drawBorders(pixels.data, segments, this.strokes, width);
    paper.putImageData(pixels, 0, 0);
    if (this.cursor) drawBrushRing(paper, this.cursor, this.radius);
  }

  dab([x, y]) {
    const { width, height } = this.opening, r = this.radius;
    for (let py = Math.max(0, Math.ceil(y - r)); py <= Math.min(height - 1, y + r); py += 1) {
      for (let px = Math.max(0, Math.ceil(x - r)); px <= Math.min(width - 1, x + r); px += 1) {
        if ((px - x) ** 2 + (py - y) ** 2 <= r * r) this.strokes[py * width + px] = this.current;
      }
    }
  }

  setOnline(isOnline) {
    this.root.classList.toggle("offline", !isOnline);
    this.say(isOnline ? "" : "The studio is not running. Your strokes are kept. Start it again with the same command: this page then goes on by itself.");
  }

  say(words) {
    this.words.textContent = words;
  }

  line(from, to) {
    const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / Math.max(1, this.radius / 2)) || 1;
    for (let k = 0; k <= steps; k += 1) this.dab([from[0] + ((to[0] - from[0]) * k) / steps, from[1] + ((to[1] - from[1]) * k) / steps]);
    this.draw();
  }

  listen() {
    let last = null;
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [((event.clientX - box.left) * this.opening.width) / box.width, ((event.clientY - box.top) * this.opening.height) / box.height];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.cursor = null;
      last = at(event);
      this.line(last, last);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const now = at(event);
      this.line(last, now);
      last = now;
    });
    this.canvas.addEventListener("pointerup", () => { if (last) this.send(); last = null; });
    this.canvas.addEventListener("pointercancel", () => { last = null; });
  }

  send() {
    return this.change_("paint", { strokes: packBytes(this.strokes) });
  }

  undo() {
    return this.state.can_undo ? this.change_("undo", {}) : undefined;
  }

  async change_(verb, values) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.root.classList.add("busy");
    try {
      this.take(await this.call(verb, { step: this.state.step, ...values }));
    } catch (error) {
      this.take(await this.call("state"));
      this.words.textContent = error.message;
    } finally {
      this.isBusy = false;
      this.root.classList.remove("busy");
    }
  }

  async exportFile(what, values = {}) {
    try {
      saveFile(await this.call("export", { what, ...values }));
    } catch (error) {
      this.words.textContent = error.message;
    }
  }

  // Digits choose a colour; arrows move a brush that Space puts down and Enter sends.
  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    if (/^[0-8]$/.test(event.key)) {
      this.current = Number(event.key);
      this.fillBrushes();
    } else if (event.key.toLowerCase() === "z") this.undo();
    else if (event.key.toLowerCase() === "t") this.theme.toggle();
    else if (event.key === "?") helpForPictures(this.root);
    else if (event.key === "[" || event.key === "]") {
      this.radius = Math.min(40, Math.max(1, this.radius + (event.key === "]" ? 1 : -1)));
      this.size.value = String(this.radius);
    } else if (arrow || event.key === " " || event.key === "Enter") this.cursorKey(event, arrow);
    else return false;
    return true;
  }

  cursorKey(event, arrow) {
    this.cursor ??= [this.opening.width / 2, this.opening.height / 2];
    const step = event.shiftKey ? 4 * STEP : STEP;
    if (arrow) this.cursor = [this.cursor[0] + arrow[0] * step, this.cursor[1] + arrow[1] * step];
    else if (event.key === " ") this.dab(this.cursor);
    else this.send();
    this.draw();
  }
}

// White on one side and black on the other, so that a border shows on any ground.
function drawBorders(data, segments, strokes, width) {
  for (let i = 0; i < segments.length; i += 1) {
    const inner = (i % width ? [i - 1] : []).concat(i >= width ? [i - width] : []);
    for (const other of inner) {
      if (segments[i] === segments[other]) continue;
      if (!strokes[i]) data.set([0, 0, 0, 200], 4 * i);
      if (!strokes[other]) data.set([255, 255, 255, 255], 4 * other);
    }
  }
}

function drawBrushRing(paper, [x, y], radius) {
  for (const [color, width] of [["#fff", 3], ["#000", 1]]) {
    paper.beginPath();
    paper.arc(x, y, radius, 0, 2 * Math.PI);
    paper.strokeStyle = color;
    paper.lineWidth = width;
    paper.stroke();
  }
}
