"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""

#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.
GAINS: dict[str, dict[str, tuple[float, ...]]] = {
    "labels": {
        "CSAP": (0.014,),
        "E2CP": (0.017,),
        "NCSC": (0.015,),
        "NormalizedCut": (-0.027,),
        "PoissonLearning": (0.002,),
        "PoissonMBO": (0.025,),
        "angles": (0.055, 0.0, 0.145),
        "classifier": (-0.009,),
        "columns": (0.015, 0.019, 0.002),
        "metric of columns": (0.012, 0.004, 0.003),
        "metric of raw": (0.007, 0.002, 0.014),
        "metric of scaled": (0.004, 0.001, -0.005),
        "numeric": (-0.019, -0.014, -0.016),
        "raw": (-0.025, -0.024, 0.018),
        "scaled": (0.0, 0.013, -0.02),
        "words": (-0.051, 0.0, -0.147),
    },
    "pairs": {
        "CSAP": (0.014,),
        "E2CP": (0.004,),
        "NCSC": (0.007,),
        "NormalizedCut": (-0.049,),
        "PoissonMBO": (0.014,),
        "columns": (0.02, 0.007, -0.003),
        "metric of columns": (0.028, 0.009, 0.0),
        "metric of raw": (0.007, 0.003, 0.015),
        "metric of scaled": (0.006, 0.009, 0.002),
        "numeric": (-0.046, -0.008, -0.026),
        "raw": (-0.003, -0.021, 0.01),
        "scaled": (-0.001, 0.016, -0.014),
        "PoissonLearning": (0.002,),
        "angles": (0.055, 0.0, 0.145),
        "classifier": (-0.009,),
        "words": (-0.051, 0.0, -0.147),
    },
}
#: How far a score on held-out constraints is trusted, and with how many points half as far.
TRUST: dict[str, tuple[float, float]] = {"labels": (1.633, 10.0), "pairs": (1.959, 100.0)}
#: Of the share of points that are right: how many held-out points the agreement of the voters
#: counts for, a constant, and what the share that was found and the agreement count.
ACCURACY: dict[str, tuple[float, ...]] = {
    "labels": (100.0, -0.174, 0.887, 0.235),
    "pairs": (30.0, -0.206, 0.831, 0.348),
}
