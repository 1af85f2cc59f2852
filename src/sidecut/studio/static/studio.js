// The studio: one state, the panels that show it, and the requests that change it.
import { saveFile, unpackNumbers } from "./arrays.js";
import { cardOf, chipOf, pairOfCards } from "./cards.js";
import { clustersPanel } from "./clusters.js";
import { legendOf, looksOf, modesOf } from "./colouring.js";
import { contradictionDialog, helpDialog, openDialog } from "./dialogs.js";
import { countOf, element, keyButton } from "./dom.js";
import { factsPanel } from "./facts.js";
import { filesPanel } from "./files.js";
import { PointMap } from "./map.js";
import { questionPanel } from "./questions.js";
import { followTheme } from "./theme.js";

const TABS = [["question", "Question"], ["clusters", "Clusters"], ["facts", "Knowledge"], ["files", "Files"]];
const STRIP = 24;

export class Studio {
  constructor(root, call, opening) {
    Object.assign(this, { root, call, opening, selection: [], by: "cluster", tab: "question", opinion: null, isBusy: false });
    this.columns = new Map();
    this.theme = followTheme(root, () => this.repaint(false));
    this.map = new PointMap(unpackNumbers(opening.places), opening.axes, {
      onHover: (point) => this.hover(point),
      onSelect: (points) => this.select(points),
      onPick: (point) => this.lookAt(point, false),
    });
    this.build();
    this.take(opening.state, false);
  }

  get isDark() {
    return this.theme.isDark();
  }

  // The page

  build() {
    this.status = element("p", { class: "status", role: "status", "aria-live": "polite" });
    this.counts = element("span", { class: "counts" });
    this.colorBy = element("select", { class: "color-by", "aria-label": "Colour by", onchange: () => this.setColor(this.colorBy.value) });
    this.fillColors();
    this.legend = element("div", { class: "legend-box" });
    this.chosen = element("div", { class: "chosen", hidden: true });
    this.tip = element("div", { class: "tip", hidden: true });
    this.panel = element("div", { class: "panel-body" });
    this.lassoButton = keyButton("Lasso", "L", () => this.toggleLasso(), { class: "quiet lasso-button", "aria-pressed": "false" });
    this.tabs = element("nav", { class: "tabs", role: "tablist" }, TABS.map(([tab, label], k) =>
      element("button", { type: "button", role: "tab", "data-tab": tab, "aria-keyshortcuts": String(k + 1), onclick: () => this.show(tab) }, label)));
    this.map.box.append(
      element("div", { class: "tools" },
        element("label", {}, element("span", {}, "Colour"), this.colorBy), this.lassoButton,
        element("button", { type: "button", class: "quiet", "aria-label": "Zoom in", onclick: () => this.map.zoomBy(1.4) }, "+"),
        element("button", { type: "button", class: "quiet", "aria-label": "Zoom out", onclick: () => this.map.zoomBy(1 / 1.4) }, "−"),
        element("button", { type: "button", class: "quiet", "aria-label": "Show all", onclick: () => this.map.resetView() }, "⤢")),
      this.legend, this.chosen, this.tip);
    this.root.replaceChildren(
      element("header", {}, element("h1", {}, this.opening.title), this.counts, this.status,
        element("button", { type: "button", class: "quiet theme", "aria-label": "Light or dark", onclick: () => this.theme.toggle() }, "◐"),
        element("button", { type: "button", class: "quiet help-button", "aria-label": "Keys", onclick: () => helpDialog(this.root) }, "?")),
      element("main", {}, this.map.box, element("aside", { class: "panel" }, this.tabs, this.panel)));
  }

  fillColors() {
    const choices = [["cluster", "cluster"], ["confidence", "confidence"], ...this.opening.columns.map((name) => [`column ${name}`, name])];
    if (this.opinion) choices.push(["opinion", "AutoCut"]);
    this.colorBy.replaceChildren(...choices.map(([value, words]) => element("option", { value }, words)));
  }

  say(words) {
    this.status.textContent = words;
  }

  // Whether the server answers: without it the page is grey, says so, and waits.
  setOnline(isOnline) {
    this.root.classList.toggle("offline", !isOnline);
    this.lost?.remove();
    this.lost = null;
    if (isOnline) return;
    this.lost = element("p", { class: "lost", role: "alert" }, "The studio is not running. Your answers are kept. Start it again with the same command: this page then goes on by itself.");
    this.root.append(this.lost);
  }

  // The state

  take(message, isNews) {
    this.state = {
      ...message, labels: unpackNumbers(message.labels), confidence: unpackNumbers(message.confidence),
      changed: unpackNumbers(message.changed),
    };
    const { n_clusters: k, n_answers: answers, question, n_changed: n } = this.state;
    this.counts.textContent = `${countOf(this.opening.n_points, "point")} · ${countOf(k, "cluster")} · ${countOf(answers, "answer")}`;
    this.map.lines = message.lines;
    this.map.pair = question ? question.points : null;
    if (isNews) this.say(n ? `${countOf(n, "point")} changed` : "no point changed");
    this.repaint(isNews && n > 0);
    this.show(this.tab);
  }

  repaint(isPulse) {
    if (!this.state) return;
    const n = this.opening.n_points;
    const { rgb, shapes } = looksOf(n, this.by, this.state, this.isDark);
    const modes = modesOf(n, this.selection, this.by === "cluster" ? this.state.changed : null, this.by.differs);
    this.map.paint(rgb, shapes, modes, this.selection.length > 0 || Boolean(this.by.differs), isPulse);
    this.legend.replaceChildren(legendOf(this));
  }

  // Requests. Those that change something name the step they were made at.

  async ask(verb, values = {}) {
    try {
      return await this.call(verb, values);
    } catch (error) {
      this.say(error.message);
      throw error;
    }
  }

  async change_(verb, values, canDoubt = false) {
    if (this.isBusy) return;
    this.isBusy = true;
    this.root.classList.add("busy");
    try {
      this.take(await this.call(verb, { step: this.state.step, ...values }), true);
    } catch (error) {
      this.say(error.message);
      if (error.isStale) this.take(await this.call("state"), false);
      const again = (more) => this.change_(verb, { ...values, ...more }, canDoubt);
      if (error.contradiction) contradictionDialog(this.root, error.contradiction, again, canDoubt);
    } finally {
      this.isBusy = false;
      this.root.classList.remove("busy");
    }
  }

  answer(said) {
    return this.state.question ? this.change_("answer", { said }, said !== null) : undefined;
  }

  answerPair(same) {
    return this.state.question?.kind === "pair" ? this.answer(same) : undefined;
  }

  undo() {
    return this.state.can_undo ? this.change_("undo", {}) : this.say("There is nothing to take back.");
  }

  // Numbers of clusters and facts are those of the step their list was made at.

  name(step, cluster, name) {
    return this.change_("name", { step, cluster, name });
  }

  forget(step, positions) {
    return this.change_("forget", { step, positions });
  }

  change(step, position, same) {
    return this.change_("change", { step, position, same });
  }

  async join() {
    if (!this.selection.length) return this.say("Draw a lasso first (L).");
    await this.change_("join", { points: this.selection });
    return this.select([]);
  }

  async part() {
    if (!this.selection.length) return this.say("Draw a lasso first (L).");
    await this.change_("part", { points: this.selection });
    this.select([]);
    return this.show("question");
  }

  async detach() {
    if (!this.selection.length) return this.say("Draw a lasso first (L).");
    await this.change_("detach", { points: this.selection });
    return this.select([]);
  }

  async move(to) {
    await this.change_("move", { points: this.selection, to });
    return this.select([]);
  }

  importText(text) {
    return this.change_("import", { text });
  }

  async exportFile(what) {
    saveFile(await this.ask("export", { what }));
    this.say(`${what} saved`);
  }

  async askOpinion() {
    this.say("AutoCut is choosing; this can take a while.");
    const opinion = await this.ask("opinion");
    opinion.column.values = unpackNumbers(opinion.column.values);
    opinion.column.differs = unpackNumbers(opinion.column.differs);
    this.opinion = opinion;
    this.fillColors();
    this.colorBy.value = "opinion";
    await this.setColor("opinion");
    this.say(`AutoCut puts ${countOf(opinion.n_differing, "point")} elsewhere; colour by cluster shows yours again.`);
    this.show("files");
  }

  async setColor(value) {
    if (value.startsWith("column ")) {
      const name = value.slice(7);
      if (!this.columns.has(name)) {
        const column = await this.ask("column", { name });
        this.columns.set(name, { ...column, values: unpackNumbers(column.values) });
      }
      this.by = this.columns.get(name);
    } else this.by = value === "opinion" ? this.opinion.column : value;
    this.repaint(false);
  }

  nextColor() {
    const options = [...this.colorBy.options];
    this.colorBy.selectedIndex = (this.colorBy.selectedIndex + 1) % options.length;
    this.say(`colour by ${this.colorBy.selectedOptions[0].textContent}`);
    return this.setColor(this.colorBy.value);
  }

  // Panels

  async show(tab) {
    this.tab = tab;
    for (const button of this.tabs.children) button.setAttribute("aria-selected", String(button.dataset.tab === tab));
    const step = this.state.step;
    const content = await this.contentOf(tab);
    if (this.tab !== tab || this.state.step !== step) return;
    this.panel.replaceChildren(content);
    Object.assign(this.panel.dataset, { step, tab });
  }

  async contentOf(tab) {
    if (tab === "question") return questionPanel(this);
    if (tab === "clusters") return clustersPanel(this, await this.ask("clusters"));
    if (tab === "facts") return factsPanel(this, await this.ask("facts"));
    return filesPanel(this);
  }

  // Looking and choosing

  toggleLasso() {
    this.map.setLasso(!this.map.isLasso);
    this.lassoButton.setAttribute("aria-pressed", String(this.map.isLasso));
    this.say(this.map.isLasso ? "Draw around points; or arrows, Space for each corner, Enter." : "");
  }

  async select(points) {
    this.selection = points;
    if (this.map.isLasso) this.toggleLasso();
    this.chosen.hidden = !points.length;
    this.repaint(false);
    if (!points.length) return;
    const some = points.filter((_, k) => k % Math.ceil(points.length / STRIP) === 0);
    const cards = await this.ask("cards", { points: some });
    if (this.selection !== points) return;
    this.chosen.replaceChildren(
      element("div", { class: "top" }, element("p", {}, element("b", {}, countOf(points.length, "point")), " chosen"),
        keyButton("Let go", "Esc", () => this.select([]), { class: "quiet" })),
      element("div", { class: "strip" }, cards.map((card) => chipOf(card, () => this.lookAt(card.point)))),
      element("div", { class: "actions" },
        keyButton("These are one", "J", () => this.join(), { class: "join" }),
        keyButton("Not one cluster", "P", () => this.part(), { class: "part" }),
        keyButton("A cluster of their own", "X", () => this.detach(), { class: "detach" }),
        element("select", { class: "move", "aria-label": "Move to a cluster", onchange: (event) => this.move(Number(event.target.value)) },
          element("option", { value: "", disabled: true, selected: true }, "Move to …"),
          this.state.numbers.map((number, k) => element("option", { value: number }, this.state.names[k])))));
  }

  nameAt(point) {
    return this.state.names[this.state.numbers.indexOf(this.state.labels[point])];
  }

  selectCluster(cluster) {
    const points = [];
    this.state.labels.forEach((label, i) => { if (label === cluster) points.push(i); });
    return this.select(points);
  }

  async hover(point) {
    this.tip.hidden = true;
    if (point < 0) return;
    const [card] = await this.ask("cards", { points: [point] });
    if (this.map.hovered !== point) return;
    const [x, y] = this.map.screenOf(point), { width, height } = this.map.camera;
    this.tip.replaceChildren(cardOf(card), element("p", { class: "where" }, this.nameAt(point)));
    this.tip.hidden = false;
    Object.assign(this.tip.style, {
      left: x < width / 2 ? `${x + 16}px` : "auto", right: x < width / 2 ? "auto" : `${width - x + 16}px`,
      top: y < height / 2 ? `${y + 8}px` : "auto", bottom: y < height / 2 ? "auto" : `${height - y + 8}px`,
    });
  }

  async lookAt(point, fly = true) {
    const [card] = await this.ask("cards", { points: [point] });
    if (fly) this.map.flyTo([point]);
    openDialog(this.root, element("form", { method: "dialog" }, cardOf(card),
      element("p", { class: "where" }, `In ${this.nameAt(point)}, ${Math.round(this.state.confidence[point] / 2.55)} % sure.`),
      element("button", { class: "primary" }, "Close")), { class: "look" });
  }

  async showPair(i, j) {
    this.map.flyTo([i, j]);
    if (i === j) return this.lookAt(i, false);
    const pair = await this.ask("pair", { i, j });
    return openDialog(this.root, element("form", { method: "dialog" }, pairOfCards(pair), element("button", { class: "primary" }, "Close")), { class: "look" });
  }

  // Keys. Returns whether the key meant something here.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key.toLowerCase() !== "z") return false;
      this.undo();
      return true;
    }
    const actions = {
      s: () => this.answerPair(true), y: () => this.answerPair(true), d: () => this.answerPair(false), n: () => this.answerPair(false),
      u: () => this.answer(null), z: () => this.undo(), l: () => this.toggleLasso(), j: () => this.join(), p: () => this.part(), x: () => this.detach(),
      f: () => this.map.flyTo(this.map.pair ?? []), c: () => this.nextColor(), t: () => this.theme.toggle(),
      "?": () => helpDialog(this.root), escape: () => this.letGo(),
      1: () => this.show("question"), 2: () => this.show("clusters"), 3: () => this.show("facts"), 4: () => this.show("files"),
    };
    const action = actions[event.key.toLowerCase()];
    if (action) action();
    return Boolean(action) || this.map.key(event);
  }

  letGo() {
    if (this.map.isLasso) this.toggleLasso();
    else this.select([]);
  }
}
