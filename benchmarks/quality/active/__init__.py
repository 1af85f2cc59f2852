"""How good the clusters are after so many questions: each strategy, and COBRAS, on eleven data sets."""
