"""Few labels, sizes and pairs: PoissonMBO, PoissonLearning and the others on the same graphs."""
