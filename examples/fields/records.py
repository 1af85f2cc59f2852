"""
Records of people
=================

A package such as splink or dedupe has compared pairs of records and says how likely each pair is a match.
Which records are one person? Connected components glue people together by every wrong match;
``sidecut.integrations.records.cluster_records`` weighs the evidence on both sides.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from sidecut.integrations.records import cluster_records

rng = np.random.default_rng(3)
person = np.repeat(np.arange(60), 1 + rng.poisson(3, 60))
left, right = np.triu_indices(len(person), 1)
same = person[left] == person[right]
compared = same & (rng.random(len(left)) < 0.9) | (rng.random(len(left)) < 0.004)
left, right, same = left[compared], right[compared], same[compared]
odds = np.where(same, 3.0, -3.0) + np.sqrt(6.0) * rng.normal(size=len(left))
edges = pd.DataFrame(
    {"unique_id_l": left, "unique_id_r": right, "match_probability": 1 / (1 + np.exp(-odds))}
)
print(f"{len(person)} records of 60 people, {len(edges)} compared pairs")

# %%
# The result is a table with a row per record. ``confidence`` is the chance that the record is in the right
# cluster rather than in the next best.

result = cluster_records(edges, records=np.arange(len(person)))
print(result.sort_values("confidence").head())

# %%
# A person who looks at the doubtful ones is believed: what she decides holds, whatever the probabilities say.

doubtful = result.sort_values("confidence")["unique_id"].to_numpy()[:20]
asked = edges[edges["unique_id_l"].isin(doubtful) | edges["unique_id_r"].isin(doubtful)]
pairs = asked[["unique_id_l", "unique_id_r"]].to_numpy()
is_same = person[pairs[:, 0]] == person[pairs[:, 1]]
decided = cluster_records(
    edges, records=np.arange(len(person)), must_link=pairs[is_same], cannot_link=pairs[~is_same]
)


def f_measure(labels):
    said = labels[:, None] == labels
    true = person[:, None] == person
    np.fill_diagonal(said, False)
    np.fill_diagonal(true, False)
    return 2 * (said & true).sum() / (said.sum() + true.sum())


graph = nx.Graph()
graph.add_nodes_from(range(len(person)))
likely = edges[edges["match_probability"] > 0.5]
graph.add_edges_from(likely[["unique_id_l", "unique_id_r"]].to_numpy())
parts = np.empty(len(person), dtype=int)
for number, nodes in enumerate(nx.connected_components(graph)):
    parts[list(nodes)] = number
found = {
    "connected components": parts,
    "sidecut": result["cluster_id"].to_numpy(),
    f"sidecut, {len(pairs)} pairs decided": decided["cluster_id"].to_numpy(),
}
for name, labels in found.items():
    print(f"{name}: F {f_measure(labels):.2f}, largest cluster {np.bincount(labels).max()}")

# %%
# Every dot is a record, every line a likely match, every colour a cluster.

place = nx.spring_layout(graph, seed=0, k=0.12, iterations=80)
_, axes = plt.subplots(1, 2, figsize=(11, 5))
for ax, (name, labels) in zip(axes, list(found.items())[:2], strict=True):
    colors = np.random.default_rng(1).permutation(len(person))[labels]
    nx.draw_networkx_edges(graph, place, ax=ax, alpha=0.3)
    nx.draw_networkx_nodes(graph, place, node_color=colors, cmap="prism", node_size=25, ax=ax)
    ax.set(title=f"{name}: {len(np.unique(labels))} clusters, F {f_measure(labels):.2f}")
    ax.set_axis_off()
plt.tight_layout()
