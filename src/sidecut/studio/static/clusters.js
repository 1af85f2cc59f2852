// The clusters: names to edit, sizes, how sure they are, typical and doubtful members.
import { chipOf } from "./cards.js";
import { countOf, element, swatch } from "./dom.js";
import { clusterColor, clusterShape } from "./palette.js";

export function clustersPanel(studio, clusters) {
  return element("section", { class: "clusters" },
    element("h2", {}, countOf(clusters.length, "cluster")),
    element("p", { class: "hint" }, "Type a name and press Enter. Clusters of the same name become one."),
    clusters.map((cluster) => clusterRow(studio, cluster)));
}

function clusterRow(studio, cluster) {
  const { step } = studio.state;
  const strip = (label, cards) => cards.length > 0 && element("div", { class: "strip" },
    element("span", { class: "label" }, label),
    element("div", {}, cards.map((card) => chipOf(card, () => studio.lookAt(card.point)))));
  const input = element("input", {
    class: "name", value: cluster.is_named ? cluster.name : "", placeholder: cluster.name,
    "aria-label": `Name of ${cluster.name}`, maxlength: "80",
  });
  return element("article", { class: "cluster", "data-cluster": cluster.cluster },
    element("form", { class: "head", onsubmit: (event) => { event.preventDefault(); input.blur(); studio.name(step, cluster.cluster, input.value); } },
      swatch(clusterColor(cluster.cluster, studio.isDark), clusterShape(cluster.cluster)), input,
      element("button", { type: "button", class: "quiet size", title: "Select its points on the map", onclick: () => studio.selectCluster(cluster.cluster) },
        countOf(cluster.size, "point"))),
    sureness(cluster.confidence),
    strip("typical", cluster.typical), strip("doubtful", cluster.doubtful));
}

function sureness(share) {
  const percent = Math.round(100 * share);
  const bar = element("span", { class: "bar" }, element("i", {}));
  bar.firstChild.style.width = `${percent}%`;
  return element("div", { class: "sure" }, bar, element("span", {}, `${percent} % sure`));
}
