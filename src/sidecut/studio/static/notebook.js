// The same studio in a cell of a notebook: requests go through the widget's own line.
import { mountStudio } from "./mount.js";
import { openReply } from "./transport.js";

export function notebookTransport(model) {
  const waiting = new Map();
  let count = 0;
  model.on("msg:custom", (message) => {
    const settle = waiting.get(message.id);
    waiting.delete(message.id);
    if (settle) settle(message.reply);
  });
  return async (verb, values = {}) => {
    count += 1;
    const id = count;
    const reply = new Promise((resolve) => waiting.set(id, resolve));
    model.send({ id, request: { do: verb, ...values } });
    return openReply(await reply);
  };
}

export function renderInNotebook(model, cell) {
  const root = document.createElement("div");
  root.tabIndex = -1;
  root.classList.add("in-notebook");
  root.style.height = `${model.get("height")}px`;
  cell.append(root);
  return mountStudio(root, notebookTransport(model), root);
}
