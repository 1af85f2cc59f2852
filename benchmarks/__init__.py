"""Measurements: the papers' experiments, speed as ratios within one run, other people's packages."""
