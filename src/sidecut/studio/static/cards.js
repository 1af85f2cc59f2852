// Points as cards: a picture, a line, a text, a table, neighbours; alone or two side by side.
import { element, svgElement } from "./dom.js";

export function pairOfCards(pair) {
  const scale = seriesScale([pair.left, pair.right]);
  return element("div", { class: "pair" },
    cardOf(pair.left, "A", scale, pair.right.series, false), cardOf(pair.right, "B", scale, pair.left.series, false),
    pair.left.fields.length > 0 && comparison(pair));
}

// One table for both, what differs most on top; all beyond the first ten is folded.
const UNFOLDED = 10;

function comparison({ left, right }) {
  const both = left.fields.map((field, k) => [field, right.fields[k]]).filter((two) => two.some((one) => one.value !== ""));
  const rows = both.map((two) => element("tr", { class: two[0].differs > 0.02 ? "differs" : "" },
    nameOf(two[0]),
    two.map((one) => element("td", {}, mark(one.value, one.differs > 0.02, one.differs)))));
  const head = element("tr", {}, element("th", {}), ["A", "B"].map((letter) => element("th", { scope: "col" }, element("span", { class: "letter" }, letter))));
  const more = rows.length - UNFOLDED + left.n_more;
  return element("div", { class: "comparison" }, element("table", {}, head, rows.slice(0, UNFOLDED)),
    more > 0 && element("details", {}, element("summary", {}, `${more} more, which differ less`),
      element("table", {}, rows.slice(UNFOLDED)),
      left.n_more > 0 && element("p", { class: "hint" }, `${left.n_more} columns are not listed.`)));
}

export function cardOf(card, letter = null, scale = seriesScale([card]), other = null, hasTable = true) {
  return element("article", { class: "card", "data-point": card.point },
    element("h3", {}, letter && element("span", { class: "letter" }, letter), element("span", {}, card.name)),
    card.picture && element("img", { src: card.picture, alt: `Picture of ${card.name}` }),
    card.picture === "" && element("p", { class: "none" }, "no picture"),
    card.series && seriesOf(card.series, scale, other),
    card.text && element("p", { class: "text" }, wordsOf(card.text)),
    hasTable && card.fields.length > 0 && tableOf(card.fields),
    card.neighbours && element("p", { class: "neighbours" }, chipsOf(card.neighbours)));
}

// A point in a sentence: its picture where there is one, and its name.
export function faceOf(face) {
  return element("b", { class: "face" }, face.picture && element("img", { src: face.picture, alt: "" }), face.name);
}

// A small card for strips: the picture where there is one, else the name.
export function chipOf(card, onclick) {
  const inside = card.picture
    ? element("img", { src: card.picture, alt: card.name })
    : card.series ? seriesOf(card.series, seriesScale([card]), null)
      : element("span", {}, card.name);
  return element("button", { type: "button", class: "chip", title: card.name, "data-point": card.point, onclick }, inside);
}

function tableOf(fields) {
  return element("table", {}, fields.map((field) => element("tr", { class: field.differs > 0.02 ? "differs" : "" },
    nameOf(field),
    element("td", {}, mark(field.value, field.differs > 0.02, field.differs)))));
}

// A column by which points are not clustered is said to be such.
function nameOf(field) {
  return element("th", { scope: "row" }, field.name, field.is_used ? null : element("small", {}, " not used"));
}

function mark(text, differs, share) {
  if (!differs) return element("span", {}, text);
  const made = element("mark", {}, text);
  made.style.setProperty("--share", share.toFixed(2));
  return made;
}

function wordsOf(pieces) {
  return pieces.map((piece) => (piece.differs ? element("mark", {}, piece.words) : element("span", {}, piece.words)));
}

function chipsOf(names) {
  return names.map((name) => element(name.differs ? "mark" : "span", { class: "neighbour" }, name.words));
}

function seriesScale(cards) {
  const all = cards.flatMap((card) => card.series ?? []).filter(Number.isFinite);
  return [Math.min(...all), Math.max(...all)];
}

// The line of a point, with that of the other one behind it in grey.
function seriesOf(values, [low, high], other) {
  const span = high - low || 1;
  const path = (list) => list.map((value, k) =>
    `${k ? "L" : "M"}${((200 * k) / Math.max(list.length - 1, 1)).toFixed(1)} ${(72 - (64 * (value - low)) / span).toFixed(1)}`).join("");
  return svgElement("svg", { viewBox: "0 0 200 80", class: "series", preserveAspectRatio: "none", "aria-hidden": "true" },
    other && svgElement("path", { d: path(other), class: "behind" }), svgElement("path", { d: path(values) }));
}
