// Colours that colour-blind people can tell apart: after Okabe & Ito, moved a little until any two differ plainly
// for protan, deutan and tritan eyes (tests/studio/test_palette.py). One list for light and one for dark ground.
// From the ninth cluster on the shape changes too.

export const LIGHT = [
  "#0077c5", "#e69f00", "#009e73", "#d86303", "#7a3e9d", "#56b4e9", "#835800", "#cc79a7",
  "#142828", "#5000c8", "#b4b464", "#a03c3c", "#505064", "#3c2800", "#8c50f0", "#3c0078",
];
export const DARK = [
  "#3390f2", "#f0b030", "#1fbf90", "#f07030", "#b38cde", "#8fd3ff", "#d7c75b", "#eca9cf",
  "#6400f0", "#8c3c28", "#785064", "#b4dc8c", "#50508c", "#b47850", "#7828c8", "#b43c00",
];
const SAME_SHAPE = 8;
export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "ring"];

// From dark blue to yellow, as in cividis: lightness alone tells the order.
const RAMP = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [201, 186, 105], [254, 232, 56]];

export function clusterColor(number, isDark) {
  const colors = isDark ? DARK : LIGHT;
  return colors[number % colors.length];
}

export function clusterShape(number) {
  return Math.floor(number / SAME_SHAPE) % SHAPES.length;
}

export function rgbOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[low].map((value, k) => Math.round(value + (at - low) * (RAMP[low + 1][k] - value)));
}

export function rampGradient() {
  return `linear-gradient(to right, ${RAMP.map((rgb) => `rgb(${rgb.join(",")})`).join(",")})`;
}
