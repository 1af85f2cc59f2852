"""What may be wrong with what is known: suspicious labels and links, and links that say nothing new.

| file | holds |
|---|---|
| `suspects.py` | `find_suspects`, `drop_suspects`: labels or links that the others speak against |
| `leave_one_out.py` | the scores: what the graph and all others say of a label or link left out |
| `calibration.py` | from these scores to the chance of being wrong |
| `influence.py` | `measure_influence`: how much each link matters |
| `redundancy.py` | `find_redundant`: links that follow from the others |
"""

from sidecut.diagnostics.influence import find_redundant, measure_influence
from sidecut.diagnostics.suspects import Suspects, drop_suspects, find_suspects

__all__ = ["Suspects", "drop_suspects", "find_redundant", "find_suspects", "measure_influence"]
