"""Run by the Python of the peer's own environment: graphlearning on a graph and labels in files."""

import json
import sys
import time
from pathlib import Path

import graphlearning
import numpy as np
import scipy.sparse as sp

folder, name = Path(sys.argv[1]), sys.argv[2]
weights = sp.csr_matrix(sp.load_npz(folder / "weights.npz"))
work = np.load(folder / "known.npz")
known, truth = work["known"], work["truth"]
points = np.flatnonzero(known >= 0)
if name == "graphlearning Poisson":
    model = graphlearning.ssl.poisson(weights)
else:
    model = graphlearning.ssl.poisson_mbo(weights, class_priors=np.bincount(truth) / len(truth))
wall, cpu = time.perf_counter(), time.process_time()
classes = model.fit_predict(points, known[points])
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
np.save(folder / "classes.npy", classes)
print(json.dumps({"wall": wall, "cpu": cpu}))
