// The page of the server.
import { mountStudio } from "./mount.js";
import { serverTransport } from "./transport.js";

const call = serverTransport();
const studio = await mountStudio(document.getElementById("page"), call, document);
document.title = `${studio.opening.title} · sidecut studio`;
// For whoever looks at the page from a console.
window.studio = studio;
// Another page may have said something meanwhile.
window.addEventListener("focus", async () => {
  const state = await call("state");
  if (state.step !== studio.state.step) studio.take(state, false);
});
