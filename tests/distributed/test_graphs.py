"""Graphs in blocks on real worker processes: labels of memory, and the same bits on any number of workers."""

import os
import pickle
import signal
import sys
import time
import warnings

import numpy as np
import pytest
from distributed import CancelledError, Client, LocalCluster
from sklearn.datasets import make_blobs

from sidecut import CSP, E2CP, SCACS, AutoCut, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import Constraints, sample_labels
from sidecut.distributed import fit
from sidecut.distributed.graphs import on_cluster
from sidecut.graphs import Graph, Neighbors, SparseGraph, block_files

N_NODES, N_CLUSTERS = 2_500, 3


@pytest.fixture(scope="module")
def points():
    return make_blobs(N_NODES, n_features=3, centers=N_CLUSTERS, cluster_std=2.2, random_state=3)


@pytest.fixture(scope="module")
def graph(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks") / "graph"
    weights = Neighbors(8).build(points[0]).matrix.astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_files, "BLOCK_ENTRIES", 4_000)
        SparseGraph(weights).save(folder)
    return Graph.open(folder)


@pytest.fixture(scope="module")
def known(points):
    pairs = np.random.default_rng(0).integers(0, N_NODES, (150, 2))
    together = points[1][pairs[:, 0]] == points[1][pairs[:, 1]]
    return {
        "none": None,
        "labels": sample_labels(points[1], 30, random_state=0),
        "pairs": Constraints.from_pairs(N_NODES, must_link=pairs[together], cannot_link=pairs[~together]),
    }


def fitted(method, place, known, client=None, **options):
    model = method(N_CLUSTERS, affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if client is None:
            return model.fit(place, constraints=known)
        return fit(model, place, constraints=known, client=client, **options)


TASKS = [
    (NormalizedCut, "none"),
    (CSP, "labels"),
    (E2CP, "labels"),
    (E2CP, "pairs"),
    (PoissonLearning, "labels"),
    (PoissonMBO, "labels"),
]


@pytest.mark.parametrize(("method", "kind"), TASKS, ids=lambda value: getattr(value, "__name__", value))
def test_labels_are_those_in_memory_and_on_the_disk(threads, graph, known, method, kind):
    memory = fitted(method, SparseGraph(graph.tosparse()), known[kind])
    disk = fitted(method, graph, known[kind])
    cluster = fitted(method, graph, known[kind], threads)
    np.testing.assert_array_equal(disk.labels_, memory.labels_)
    np.testing.assert_array_equal(cluster.labels_, memory.labels_)
    np.testing.assert_allclose(cluster.confidence_, memory.confidence_, atol=1e-3)


def test_the_certificate_stays(threads, graph):
    model = fitted(NormalizedCut, graph, None, threads)
    assert model.solution_.certificate.complete
    memory = fitted(NormalizedCut, SparseGraph(graph.tosparse()), None)
    np.testing.assert_allclose(model.eigenvalues_, memory.eigenvalues_, atol=1e-6)
    assert not hasattr(model, "affinity_matrix_")


def bits(model):
    return [model.labels_, model.embedding_, model.solution_.vectors]


def test_the_same_bits_on_any_number_of_workers_and_after_a_kill(graph):
    """One process, two, and four of which one is killed in the middle of the fit."""
    found = []
    for n_workers in (1, 2, 4):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            workers = list(client.run(os.getpid).values())

            def killing(iterable, desc, total, workers=workers):
                for number, item in enumerate(iterable):
                    if number == 25:
                        os.kill(workers[0], signal.SIGKILL)
                    yield item

            progress = killing if n_workers == 4 else None
            found.append(bits(fitted(NormalizedCut, graph, None, client, progress=progress)))
            if n_workers == 4:
                client.wait_for_workers(4)
                assert workers[0] not in client.run(os.getpid).values()
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


def test_only_ghosts_travel_while_vectors_stay(client, graph):
    """The bytes of the rows that workers send each other are those that the forecast says."""
    with on_cluster(graph, client) as there:
        block = np.random.default_rng(0).normal(size=(N_NODES, 40)).astype(np.float32)

        def products(placed):
            for _ in range(10):
                placed = there.normalized.apply(placed)
            return placed

        assert there.degrees.shape == (N_NODES,)
        before = there.cluster.moved["ghosts"]
        found = there.run(products, block)
        expected = block
        for _ in range(10):
            expected = graph.normalized.apply(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        forecast = graph.forecast(4)
        assert there.cluster.moved["ghosts"] - before == 10 * forecast.traffic(40)
        assert forecast.n_parts == 4


@pytest.mark.parametrize(("n_parts", "n_tasks"), [(4, 4), (6, 4), (2, 4)])
def test_all_parts_of_a_thread_are_one_task(threads, graph, monkeypatch, n_parts, n_tasks):
    """Of two threads, each sends its rows to the other and multiplies all its parts."""
    submitted = []
    with on_cluster(graph, threads, n_parts) as there:
        np.testing.assert_array_equal(there.apply(np.ones(N_NODES)), graph.degrees)
        assert len(there.cluster.places) == 2
        assert [n for place in there.cluster.places for n in place.numbers] == list(range(n_parts))
        submit = there.cluster._submit

        def counting(function, *arguments):
            submitted.append(function.__name__)
            return submit(function, *arguments)

        monkeypatch.setattr(there.cluster, "_submit", counting)
        there.apply(np.ones(N_NODES))
    assert len(submitted) == n_tasks
    assert set(submitted) == {"send_rows", "multiply_parts"}


def test_nothing_is_left_on_the_workers(client, graph, known):
    fitted(PoissonLearning, graph, known["labels"], client)

    def interrupt(iterable, desc, total):
        for number, item in enumerate(iterable):
            if number == 5:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        fitted(NormalizedCut, graph, None, client, progress=interrupt)
    # Workers hear of it a moment later.
    for _ in range(200):
        held = client.run(lambda dask_worker: len(dask_worker.data))
        if not any(held.values()):
            break
        time.sleep(0.05)
    assert not any(held.values())


def test_autocut_chooses_on_a_sample_and_fits_there(threads, graph, known):
    """The choice is that of the graph on the disk, and nothing of the model holds the cluster."""
    models = []
    for client in (None, threads):
        model = AutoCut(N_CLUSTERS, candidates={"PoissonMBO": PoissonMBO()}, random_state=0)
        if client is None:
            model.fit(graph, constraints=known["labels"])
        else:
            fit(model, graph, constraints=known["labels"], client=client)
        models.append(model)
    disk, cluster = models
    np.testing.assert_array_equal(cluster.labels_, disk.labels_)
    assert cluster.explanation_ == disk.explanation_
    assert sorted(cluster.candidates_["method"]) == ["NormalizedCut", "PoissonMBO"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(cluster)).labels_, disk.labels_)


def test_a_graph_of_two_parts_and_a_path(threads, graph, known):
    one = fitted(PoissonLearning, graph.folder, known["labels"], threads, n_parts=2)
    other = fitted(PoissonLearning, str(graph.folder), known["labels"], threads, n_parts=3)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_what_cannot_run_is_said(threads, graph, points):
    with pytest.raises(TypeError, match="affinity='precomputed'"):
        fit(CSP(3), graph, client=threads)
    with pytest.raises(TypeError, match="SCACS does not take a graph"):
        fit(SCACS(3), graph, client=threads)
    with pytest.raises(TypeError, match=r"X\.save"):
        fit(CSP(3, affinity="precomputed"), Neighbors(5).build(points[0]), client=threads)


def test_workers_whose_memory_ends_are_told_with_numbers(threads, graph):
    """Work whose rows are lost every time is given up, and the message has the numbers."""
    tries = []

    def lost(placed):
        tries.append(placed.shape)
        raise CancelledError("rows were lost with a worker")

    with on_cluster(graph, threads) as there:
        with pytest.raises(MemoryError, match=r"Each has .* GB.*one of 4.*nodes with its ghosts"):
            there.run(lost, np.ones(N_NODES))
        # Afterwards the graph is opened anew.
        np.testing.assert_array_equal(there.apply(np.ones(N_NODES)), graph.degrees)
    assert len(tries) == 5


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_a_worker_process_whose_memory_ends(graph):
    """The system refuses the worker more than 40 MB of new addresses, and a part of the product needs 100."""

    def limit():
        import resource
        from pathlib import Path

        status = Path("/proc/self/status").read_text()
        bound = 1024 * int(status.split("VmSize:")[1].split()[0]) + 40 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))

    wide = np.ones((1, 20_000))
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="2GB", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        on_cluster(graph, client) as there,
    ):
        np.testing.assert_array_equal(there.apply(np.ones(N_NODES)), graph.degrees)
        client.run(limit)
        with pytest.raises(MemoryError, match=r"allocate .* MiB.*Each has 2 GB.*one of 4.*nodes with its"):
            there.run(lambda placed: placed @ wide, np.ones((N_NODES, 1)))
        # The worker lives, and smaller work is done there.
        np.testing.assert_array_equal(there.apply(np.ones(N_NODES)), graph.degrees)
