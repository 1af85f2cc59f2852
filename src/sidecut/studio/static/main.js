// The page of the server.
import { mountStudio } from "./mount.js";
import { serverTransport } from "./transport.js";

const ask = serverTransport();
let isLost = false;

// A server that does not answer may be started again at the same address.
async function call(verb, values) {
  try {
    return await ask(verb, values);
  } catch (error) {
    if (error.isLost) waitForServer();
    throw error;
  }
}

async function waitForServer() {
  if (isLost || !window.studio) return;
  isLost = true;
  studio.setOnline(false);
  for (;;) {
    await new Promise((go) => setTimeout(go, 1000));
    try {
      studio.take(await ask("state"), false);
      break;
    } catch (error) {
      if (!error.isLost) break;
    }
  }
  isLost = false;
  studio.setOnline(true);
  studio.say("The studio is running again.");
}

const studio = await mountStudio(document.getElementById("page"), call, document);
document.title = `${studio.opening.title} · sidecut studio`;
// For a look at the page from a console.
window.studio = studio;
// Another page may have answered meanwhile, and the server may be gone.
async function look() {
  if (isLost || studio.isBusy) return;
  const state = await call("state").catch(() => null);
  if (state && state.step !== studio.state.step) studio.take(state, false);
}
window.addEventListener("focus", look);
setInterval(() => { if (!document.hidden) call("alive").catch(() => null); }, 4000);
