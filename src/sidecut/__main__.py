"""Run the command line with ``python -m sidecut``."""

import sys

from sidecut.cli import main

if __name__ == "__main__":
    sys.exit(main())
