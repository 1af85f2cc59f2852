"""What else one would use: a classifier, label propagation, HDBSCAN, told the same."""
