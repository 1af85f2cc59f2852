"""Other people's packages on the same work, each in its own environment: ``python -m benchmarks.peers``."""
