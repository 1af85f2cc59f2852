// The door: whatever is opened, a table or a picture, in a page or a notebook.
import { element } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { PicturePage } from "./picture.js";
import { Studio } from "./studio.js";

export async function mountStudio(root, call, keyTarget) {
  root.classList.add("sidecut");
  try {
    const opening = await call("open");
    const made = opening.kind === "picture" ? new PicturePage(root, call, opening) : new Studio(root, call, opening);
    listenToKeys(keyTarget, (event) => made.key(event));
    return made;
  } catch (error) {
    root.replaceChildren(element("p", { class: "waiting" }, error.message));
    throw error;
  }
}
