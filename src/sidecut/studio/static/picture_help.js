// The keys of the page for pictures.
import { openDialog } from "./dialogs.js";
import { element } from "./dom.js";

const PAINT_KEYS = [["1 to 8", "colour to paint with"], ["0", "eraser"], ["[ and ]", "smaller or larger brush"], ["arrows, Space, Enter", "move the brush, paint, see the segments"], ["Z", "undo"], ["T", "light or dark"]];

export function helpForPictures(root) {
  return openDialog(root, element("form", { method: "dialog" }, element("h2", {}, "Keys"),
    element("dl", {}, PAINT_KEYS.map(([key, words]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, words)])),
    element("button", { class: "primary" }, "Close")), { class: "help" });
}
