// Elements from plain values. Text is always set as text: nothing in the data can become part of the page.

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

function fillElement(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(made.style, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(3).filter((child) => child != null && child !== false && child !== ""));
  return made;
}

export function keyButton(label, key, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, "aria-keyshortcuts": key, ...attributes },
    element("span", {}, label), element("kbd", {}, key));
}

export function countOf(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

// The mark of a cluster: its colour and its shape.
export function swatch(color, shape) {
  const shapes = [
    ["circle", { cx: 8, cy: 8, r: 6 }],
    ["rect", { x: 2.5, y: 2.5, width: 11, height: 11 }],
    ["path", { d: "M8 1.5 15 14H1Z" }],
    ["path", { d: "M8 1 15 8 8 15 1 8Z" }],
    ["path", { d: "M6 1h4v5h5v4h-5v5H6v-5H1V6h5Z" }],
    ["circle", { cx: 8, cy: 8, r: 4.8, fill: "none", stroke: color, "stroke-width": 3.2 }],
  ];
  const [tag, attributes] = shapes[shape];
  return svgElement("svg", { viewBox: "0 0 16 16", class: "swatch", "aria-hidden": "true" },
    svgElement(tag, { fill: color, ...attributes }));
}
