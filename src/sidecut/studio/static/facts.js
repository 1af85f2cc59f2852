// The knowledge: everything that was said, to change or take back, with what looks wrong on top.
import { faceOf } from "./cards.js";
import { countOf, element } from "./dom.js";

// A chance of being wrong that is worth a look; above one half it looks wrong.
const WORTH_A_LOOK = 0.1;
const CHOICES = [["true", "belongs with"], ["false", "does not belong with"], ["null", "may belong with"]];

export function factsPanel(studio, facts) {
  const suspects = facts.filter((fact) => fact.suspect > 0.5);
  const order = [...facts].sort((a, b) => rankOf(b) - rankOf(a) || b.position - a.position);
  return element("section", { class: "facts" },
    element("h2", {}, facts.length ? `${countOf(facts.length, "thing")} you said` : "You have said nothing yet"),
    suspects.length > 0 && element("p", { class: "warning" },
      `${countOf(suspects.length, "answer")} ${suspects.length === 1 ? "looks" : "look"} wrong: the graph or the other answers speak against ${suspects.length === 1 ? "it" : "them"}.`),
    order.slice(0, 500).map((fact) => factRow(studio, fact)));
}

function rankOf(fact) {
  return fact.suspect > WORTH_A_LOOK ? 1 + fact.suspect : 0;
}

function factRow(studio, fact) {
  const { step } = studio.state;
  const words = fact.words ? fact.words : fact.name !== null
    ? [faceOf(fact.left), " is ", element("b", {}, fact.name)]
    : [faceOf(fact.left), " ", choiceOf(studio, fact, step), " ", faceOf(fact.right)];
  const show = () => studio.showPair(fact.i, fact.j);
  return element("article", { class: `fact${fact.suspect > 0.5 ? " suspect" : ""}${fact.violated ? " violated" : ""}`, "data-position": fact.position },
    element("p", {}, words),
    fact.suspect > WORTH_A_LOOK && element("p", { class: "reason" }, `${Math.round(100 * fact.suspect)} % likely to be wrong: ${fact.reason}.`),
    fact.violated && element("p", { class: "reason" }, "The clusters do not keep this one."),
    fact.confidence < 1 && element("p", { class: "reason" }, `Said with ${Math.round(100 * fact.confidence)} % confidence.`),
    element("div", { class: "actions" },
      element("button", { type: "button", class: "quiet", onclick: show }, "Show"),
      element("button", { type: "button", class: "quiet forget", onclick: () => studio.forget(step, [fact.position]) }, "Take back")));
}

function choiceOf(studio, fact, step) {
  const change = (event) => studio.change(step, fact.position, JSON.parse(event.target.value));
  const select = element("select", { "aria-label": `Change the answer about ${fact.left.name} and ${fact.right.name}`, onchange: change },
    CHOICES.map(([value, words]) => element("option", { value, selected: value === String(fact.same) }, words)));
  return select;
}
