"""Other packages on the same work, each in its own environment: ``python -m benchmarks.quality.peers``."""
