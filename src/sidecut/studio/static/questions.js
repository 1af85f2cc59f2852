// The question: a pair, a point to name, or a set to divide, and the ways to answer.
import { cardOf, pairOfCards } from "./cards.js";
import { element, keyButton } from "./dom.js";
import { divideSet } from "./sets.js";

export function questionPanel(studio) {
  const { question, outlook, can_undo: canUndo, n_answers: n } = studio.state;
  const undo = keyButton("Undo", "Z", () => studio.undo(), { class: "quiet undo", disabled: !canUndo });
  if (!question) {
    return element("section", { class: "question done" }, element("h2", {}, "Nothing is left worth asking"),
      element("p", {}, "You can still link points yourself: draw a lasso (L), or edit the knowledge (3)."), undo);
  }
  const { shown, buttons } = { pair: askPair, label: askLabel, set: divideSet }[question.kind](studio, question);
  return element("section", { class: `question ${question.kind}` }, shown,
    element("p", { class: "why" }, `Why this one: ${question.reason}.`),
    element("p", { class: "outlook" }, n ? outlook : "Each answer improves the map, the first dozen most."),
    studio.opening.about && element("p", { class: "hint about" }, studio.opening.about),
    // Always in sight, however long the cards are.
    element("div", { class: "answers" }, buttons,
      keyButton("Unsure", "U", () => studio.answer(null), { class: "unsure" }), undo));
}

function askPair(studio, question) {
  return {
    shown: [element("h2", {}, "Do A and B belong together?"), pairOfCards(question.pair)],
    buttons: [
      keyButton("Same", "S", () => studio.answer(true), { class: "same" }),
      keyButton("Different", "D", () => studio.answer(false), { class: "different" }),
    ],
  };
}

function askLabel(studio, question) {
  const give = () => { if (field.value.trim()) studio.answer(field.value.trim()); };
  const field = element("input", {
    class: "new-name", "aria-label": "A new name", placeholder: "a new name", maxlength: 80,
    onkeydown: (event) => { if (event.key === "Enter") give(); },
  });
  const names = question.names.map((name) =>
    element("button", { type: "button", class: "known-name", onclick: () => studio.answer(name) }, name));
  return {
    shown: [element("h2", {}, "What is this?"), cardOf(question.cards[0]), names.length > 0 && element("div", { class: "names" }, names)],
    buttons: [field, element("button", { type: "button", class: "same", onclick: give }, "Name it")],
  };
}
