// In and out: exports, an import, and a second opinion by AutoCut.
import { countOf, element } from "./dom.js";

const EXPORTS = [
  ["labels", "Labels", "a table: name, label, class, confidence"],
  ["constraints", "Constraints", "all your answers, for any method of sidecut"],
  ["model", "Model", "to go on with, or to label new points"],
  ["report", "Report", "a page to show to others"],
];

export function filesPanel(studio) {
  const file = element("input", { type: "file", accept: ".csv,.txt,.tsv", class: "import", "aria-label": "Constraints to import",
    onchange: async () => file.files.length && studio.importText(await file.files[0].text()) });
  return element("section", { class: "files" },
    element("h2", {}, "Save"),
    element("div", { class: "exports" }, EXPORTS.map(([what, label, words]) =>
      element("button", { type: "button", "data-what": what, onclick: () => studio.exportFile(what) },
        element("b", {}, label), element("span", {}, words)))),
    element("h2", {}, "Open"),
    element("p", { class: "hint" }, "Constraints from a file: i,j,kind or i,label, by name or by row number."), file,
    element("h2", {}, "A second opinion"),
    element("p", { class: "hint" }, "AutoCut chooses a graph and a method by your answers, and clusters the points anew. The map then shows the points it puts elsewhere."),
    element("button", { type: "button", class: "opinion", onclick: () => studio.askOpinion() }, "Ask AutoCut"),
    studio.opinion && element("p", { class: "opinion-words" },
      `${countOf(studio.opinion.n_differing, "point")} of ${studio.opening.n_points.toLocaleString("en")} would be elsewhere. ${studio.opinion.words}`),
    element("p", { class: "kept" }, studio.opening.kept_in
      ? `Every answer is kept in ${studio.opening.kept_in} before the next question is asked.`
      : "Nothing is kept on disk: this session has no folder."));
}
