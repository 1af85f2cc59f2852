// Dialogs: a contradiction and its ways out, and the list of keys.
import { faceOf } from "./cards.js";
import { element } from "./dom.js";

const KEYS = [
  ["Answer", [["S or Y", "same"], ["D or N", "different"], ["U", "unsure"], ["Z", "undo"]]],
  ["Map", [["arrows", "move"], ["+ − 0", "zoom, all"], ["F", "find the two points"], ["C", "colour by"]]],
  ["Lasso", [["L, or drag with Shift", "start"], ["arrows, Space, Enter", "draw by keys"], ["J", "these are one"], ["P", "not one cluster"], ["X", "a cluster of their own"], ["Esc", "let go"]]],
  ["Page", [["1 2 3 4", "question, clusters, knowledge, files"], ["T", "light or dark"], ["?", "this list"]]],
];

export function openDialog(root, content, attributes = {}) {
  const dialog = element("dialog", { ...attributes, onclose: () => dialog.remove() }, content);
  root.append(dialog);
  dialog.showModal();
  return dialog;
}

export function helpDialog(root) {
  const dialog = openDialog(root, element("form", { method: "dialog" },
    element("h2", {}, "Keys"),
    element("div", { class: "keys" }, KEYS.map(([title, rows]) => element("div", {}, element("h3", {}, title),
      element("dl", {}, rows.map(([key, words]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, words)]))))),
    element("p", { class: "hint" }, "Lines on the map: solid is together, dashed is apart, red is what the clusters do not keep."),
    element("button", { class: "primary" }, "Close")), { class: "help" });
  return dialog;
}

// again(values): make the same request once more, with earlier answers taken back or with less confidence.
export function contradictionDialog(root, contradiction, again, canDoubt) {
  let dialog = null;
  const choose = (values) => { dialog.close(); again(values); };
  const rows = contradiction.links.map((link) => element("li", { class: link.same ? "together" : "apart" },
    element("span", {}, faceOf(link.left), link.same ? " belongs with " : " does not belong with ", faceOf(link.right)),
    link.is_new && element("em", {}, "new"),
    link.positions.length > 0 && !link.is_new && element("button", { type: "button", class: "quiet", onclick: () => choose({ forget: link.positions }) }, "Take this back")));
  dialog = openDialog(root, element("div", {},
    element("h2", {}, "This contradicts what was said before"),
    element("p", {}, contradiction.words),
    element("ol", { class: "chain" }, rows),
    element("p", { class: "hint" }, "One of these must be wrong. Take that one back, or leave everything as it was."),
    element("div", { class: "actions" },
      element("button", { type: "button", class: "primary leave", autofocus: true, onclick: () => dialog.close() }, "Leave it as it was"),
      canDoubt && element("button", { type: "button", class: "doubt", onclick: () => choose({ confidence: 0.8 }) }, "Keep the new one as a guess"))),
  { class: "contradiction" });
  return dialog;
}
