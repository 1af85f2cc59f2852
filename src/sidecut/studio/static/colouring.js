// What colour, shape and mode every point has: by cluster, confidence, a column, or AutoCut's opinion.
import { element, swatch } from "./dom.js";
import { clusterColor, clusterShape, rampColor, rampGradient, rgbOf } from "./palette.js";
import { MARKED, PLAIN, QUIET } from "./scatter.js";

// by: "cluster", "confidence" or a column as it came from the session.
export function looksOf(n, by, state, isDark) {
  const rgb = new Uint8Array(3 * n), shapes = new Uint8Array(n);
  if (by === "cluster") fillCodes(rgb, shapes, state.labels, (code) => code, isDark);
  else if (by === "confidence") fillNumbers(rgb, state.confidence, 0, 255);
  else if (by.is_number) fillNumbers(rgb, by.values, by.low, by.high);
  else fillCodes(rgb, shapes, by.values, (code) => by.numbers?.[code] ?? code, isDark);
  return { rgb, shapes };
}

function fillCodes(rgb, shapes, codes, colorOf, isDark) {
  const known = new Map();
  for (let i = 0; i < codes.length; i += 1) {
    if (!known.has(codes[i])) {
      const number = colorOf(codes[i]);
      known.set(codes[i], [rgbOf(clusterColor(number, isDark)), clusterShape(number)]);
    }
    const [color, shape] = known.get(codes[i]);
    rgb.set(color, 3 * i);
    shapes[i] = shape;
  }
}

function fillNumbers(rgb, values, low, high) {
  const steps = Array.from({ length: 256 }, (_, k) => rampColor(k / 255));
  const scale = 255 / (high - low || 1);
  for (let i = 0; i < values.length; i += 1) {
    rgb.set(steps[Math.min(255, Math.max(0, Math.round((values[i] - low) * scale)))], 3 * i);
  }
}

// Chosen points stand out and all others step back; without a choice, those that changed stand out. Of another
// opinion only what differs is shown.
export function modesOf(n, selection, changed, differs) {
  const modes = new Uint8Array(n).fill(selection.length || differs ? QUIET : PLAIN);
  if (selection.length) for (const i of selection) modes[i] = PLAIN;
  else if (differs) for (let i = 0; i < n; i += 1) modes[i] = differs[i] ? MARKED : QUIET;
  else if (changed) for (let i = 0; i < n; i += 1) if (changed[i]) modes[i] = MARKED;
  return modes;
}

export function legendOf(studio) {
  const { by, state, isDark } = studio;
  if (by === "confidence") return rampLegend("0 % sure", "100 % sure");
  if (by !== "cluster" && by.is_number) return rampLegend(shortNumber(by.low), shortNumber(by.high));
  const entries = by === "cluster"
    ? state.names.map((name, k) => [name, state.numbers[k], () => studio.selectCluster(state.numbers[k])])
    : by.categories.map((name, code) => [name, by.numbers?.[code] ?? code, null]);
  const rest = entries.length - 16;
  return element("div", { class: "legend" }, entries.slice(0, 16).map(([name, number, onclick]) =>
    element("button", { type: "button", class: "quiet", disabled: !onclick, onclick: onclick ?? (() => {}) },
      swatch(clusterColor(number, isDark), clusterShape(number)), element("span", {}, name))),
  rest > 0 && element("span", { class: "rest" }, `and ${rest} more`));
}

function rampLegend(low, high) {
  const bar = element("i", { class: "ramp" });
  bar.style.background = rampGradient();
  return element("div", { class: "legend" }, element("span", {}, low), bar, element("span", {}, high));
}

function shortNumber(value) {
  return String(Number(value.toPrecision(4)));
}
