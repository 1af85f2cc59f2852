"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""

#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.
GAINS: dict[str, dict[str, tuple[float, ...]]] = {
    "labels": {
        "CSAP": (0.014, 0.0, 0.004),
        "E2CP": (0.012, 0.012, 0.008),
        "NCSC": (0.016, 0.0, 0.022),
        "NormalizedCut": (-0.014, -0.042, 0.009),
        "PoissonLearning": (0.007, -0.019, 0.05),
        "PoissonMBO": (0.017, 0.017, 0.002),
        "angles": (0.05, 0.0, 0.021),
        "classifier": (-0.016, 0.015, -0.02),
        "columns": (0.007, 0.014, 0.015),
        "metric of columns": (0.004, 0.002, 0.005),
        "metric of raw": (0.005, -0.004, 0.015),
        "metric of scaled": (0.004, 0.005, -0.003),
        "numeric": (-0.013, -0.011, -0.014),
        "raw": (-0.019, -0.03, 0.021),
        "scaled": (0.002, 0.023, -0.031),
        "words": (-0.045, 0.0, -0.022),
    },
    "pairs": {
        "CSAP": (0.007, 0.01, -0.006),
        "E2CP": (0.001, 0.005, -0.013),
        "NCSC": (0.003, 0.007, -0.028),
        "NormalizedCut": (-0.024, -0.038, -0.051),
        "PoissonMBO": (0.005, 0.009, 0.051),
        "columns": (0.012, 0.004, 0.011),
        "metric of columns": (0.016, 0.006, 0.013),
        "metric of raw": (0.004, -0.003, 0.019),
        "metric of scaled": (0.005, 0.011, -0.003),
        "numeric": (-0.033, -0.003, -0.026),
        "raw": (-0.002, -0.027, 0.014),
        "scaled": (-0.001, 0.022, -0.016),
        "PoissonLearning": (0.007, -0.019, 0.05),
        "angles": (0.05, 0.0, 0.021),
        "classifier": (-0.016, 0.015, -0.02),
        "words": (-0.045, 0.0, -0.022),
    },
}
#: How far a score on held-out constraints is trusted, and with how many points half as far.
TRUST: dict[str, tuple[float, float]] = {"labels": (1.717, 10.0), "pairs": (2.078, 100.0)}
#: What share of points is right: for how many held-out points it counts, then for a constant,
#: for the square of the agreement of the methods that vote, and for how sure they are.
ACCURACY: dict[str, tuple[float, ...]] = {
    "labels": (10.0, -0.213, 0.756, 0.371),
    "pairs": (100.0, -0.31, 0.92, 0.377),
}
