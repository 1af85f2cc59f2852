"""Points and a graph of the same things: what each gives alone, and both together."""
