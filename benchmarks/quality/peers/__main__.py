"""Run other people's packages and ours on the same work, one after the other.

    python -m benchmarks.quality.peers [--only PEER ...] [--on digits moons] [--draws 3] [--data FOLDER]

Each package gets an environment of its own under --cache, made once. Results are stored row by row, so that a
run that was broken off goes on where it stopped; --again measures anew what is stored already.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from benchmarks.quality.peers import table
from benchmarks.quality.peers.registry import Peer, chosen
from benchmarks.quality.peers.running import rows, wanted
from benchmarks.stored import facts, stamp


def forget(peers: list[Peer], data: list[str]) -> None:
    """Remove the stored results of some peers."""
    stored, names = table.stored(), [peer.name for peer in peers]
    kept = stored[~(stored["package"].isin(names) & stored["data"].isin(data))]
    kept.to_csv(table.RESULTS, index=False)


def run(peer: Peer, data: str, draw: int, args: argparse.Namespace) -> None:
    """Measure what is wanted of a peer, and store every row as it comes."""
    methods = wanted(peer, data, draw, table.stored())
    if not methods:
        return
    for row in rows(peer, methods, data, draw, args.limit, args.cache, args.data):
        print({name: value for name, value in row.items() if name != "with"}, flush=True)
        table.merged(table.stored(), [row | stamp()]).to_csv(table.RESULTS, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="PEER", help="which packages; all by default")
    parser.add_argument(
        "--on", nargs="+", help="which data; digits and moons by default, with --data also mnist"
    )
    parser.add_argument("--draws", type=int, default=3, help="draws of pairs for methods that are cheap")
    parser.add_argument("--limit", type=int, default=300, help="seconds of processor time for a run")
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz")
    parser.add_argument("--cache", type=Path, default=Path(".peers"), help="where the environments are")
    parser.add_argument("--again", action="store_true", help="measure anew what is stored already")
    args = parser.parse_args()
    print(facts(), flush=True)
    peers, sets = chosen(args.only), args.on or ["digits", "moons", *(["mnist"] if args.data else [])]
    if args.again:
        forget(peers, sets)
    # All packages run draw 1 before draw 2.
    for draw, data, peer in itertools.product(range(args.draws), sets, peers):
        run(peer, data, draw, args)
    table.main()


if __name__ == "__main__":
    main()
