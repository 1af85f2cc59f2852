// In and out: exports, an import, and a second opinion by AutoCut.
import { element } from "./dom.js";

const EXPORTS = [
  ["labels", "Labels", "a table: point, cluster, name, confidence"],
  ["constraints", "Constraints", "all that was said, for any method of sidecut"],
  ["model", "Model", "to go on with, or to label new points"],
  ["report", "Report", "a page to show to others"],
];

export function filesPanel(studio) {
  const file = element("input", { type: "file", accept: ".csv,.txt,.tsv", class: "import", "aria-label": "Constraints to import",
    onchange: async () => file.files.length && studio.importText(await file.files[0].text()) });
  return element("section", { class: "files" },
    element("h2", {}, "Take home"),
    element("div", { class: "exports" }, EXPORTS.map(([what, label, words]) =>
      element("button", { type: "button", "data-what": what, onclick: () => studio.exportFile(what) },
        element("b", {}, label), element("span", {}, words)))),
    element("h2", {}, "Bring along"),
    element("p", { class: "hint" }, "Constraints from a file: i,j,kind or i,label, by row number or by name."), file,
    element("h2", {}, "A second opinion"),
    element("p", { class: "hint" }, "AutoCut chooses a graph and a method by what you said, and clusters on its own."),
    element("button", { type: "button", class: "opinion", onclick: () => studio.askOpinion() }, "Ask AutoCut"),
    studio.opinion && element("p", { class: "opinion-words" },
      `${studio.opinion.words} Agreement with the map: ${studio.opinion.agreement.toFixed(2)} (adjusted Rand index).`),
    element("p", { class: "kept" }, studio.opening.kept_in
      ? `Every answer is kept in ${studio.opening.kept_in} before the next question is asked.`
      : "Nothing is kept on disk: this session has no folder."));
}
