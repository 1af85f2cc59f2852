import sys
from pathlib import Path

# The benchmarks are not installed; they are imported from the clone, as `python -m benchmarks.papers` does.
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.tests.toy import store, toy  # noqa: F401
