// The question: two points side by side, and the keys to answer with.
import { pairOfCards } from "./cards.js";
import { element, keyButton } from "./dom.js";

export function questionPanel(studio) {
  const { question, outlook, can_undo: canUndo, n_answers: n } = studio.state;
  const undo = keyButton("Undo", "Z", () => studio.undo(), { class: "quiet undo", disabled: !canUndo });
  if (!question) {
    return element("section", { class: "question done" }, element("h2", {}, "Nothing is left worth asking"),
      element("p", {}, "You can still link points yourself: draw a lasso (L), or edit the knowledge (3)."), undo);
  }
  return element("section", { class: "question" },
    element("h2", {}, "Do A and B belong together?"),
    pairOfCards(question.pair),
    element("div", { class: "answers" },
      keyButton("Same", "S", () => studio.answer(true), { class: "same" }),
      keyButton("Different", "D", () => studio.answer(false), { class: "different" }),
      keyButton("Unsure", "U", () => studio.answer(null), { class: "unsure" })),
    element("div", { class: "below" },
      element("p", { class: "why" }, `Why this one: ${question.reason}.`), undo),
    element("p", { class: "outlook" }, n ? outlook : "Each answer teaches the map; the first dozen teach it most."));
}
