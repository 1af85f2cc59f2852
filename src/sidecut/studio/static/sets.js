// A set to divide: the points that are marked become a group; those that are left at the end are alone.
import { cardOf } from "./cards.js";
import { element, keyButton } from "./dom.js";

export function divideSet(studio, question) {
  const groups = question.points.map(() => null), marked = new Set();
  const cards = question.cards.map((card, k) => element("button",
    { type: "button", class: "member", "aria-pressed": "false", "data-point": card.point, onclick: () => mark(k) },
    element("span", { class: "badge" }), cardOf(card, String(k + 1))));
  const together = element("button", { type: "button", class: "together", disabled: true, onclick: gather }, "These belong together");
  const hint = element("p", { class: "hint", role: "status" }, "");
  function mark(k) {
    if (groups[k] !== null) release(groups[k]);
    else if (!marked.delete(k)) marked.add(k);
    draw();
  }
  function gather() {
    const used = new Set(groups);
    const next = question.points.findIndex((_, number) => !used.has(number));
    for (const k of marked) groups[k] = next;
    marked.clear();
    draw();
  }
  function release(group) {
    groups.forEach((own, k) => { if (own === group) groups[k] = null; });
  }
  function finish() {
    if (marked.size > 1) gather();
    let next = question.points.length;
    studio.answer(groups.map((group) => group ?? next++));
  }
  function draw() {
    cards.forEach((card, k) => {
      card.setAttribute("aria-pressed", String(marked.has(k)));
      card.dataset.group = groups[k] ?? "";
      card.querySelector(".badge").textContent = groups[k] === null ? "" : String.fromCharCode(65 + groups[k]);
    });
    together.disabled = marked.size < 2;
    const alone = groups.filter((group, k) => group === null && !marked.has(k)).length;
    hint.textContent = alone ? `${alone} not in a group yet; left so, each is alone.` : "";
  }
  draw();
  return {
    shown: [
      element("h2", {}, "Which of these belong together?"),
      element("p", { class: "how" }, "Mark those of one kind, then press the button; again for the next kind."),
      element("div", { class: "members" }, cards), hint,
    ],
    buttons: [together, element("button", { type: "button", class: "same finish", onclick: finish }, "Done")],
  };
}
