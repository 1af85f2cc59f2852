"""What may be wrong with constraints: suspicious labels and links, and links that say nothing new.

| file | holds |
|---|---|
| `suspects.py` | `find_suspects`, `drop_suspects`: what the others contradict; the chance of being wrong |
| `influence.py` | leave-one-out scores; `measure_influence`, `find_redundant`: how much each link matters |
"""

from sidecut.diagnostics.influence import find_redundant, measure_influence
from sidecut.diagnostics.suspects import Suspects, drop_suspects, find_suspects

__all__ = ["Suspects", "drop_suspects", "find_redundant", "find_suspects", "measure_influence"]
