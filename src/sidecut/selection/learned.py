"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""

#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.
GAINS: dict[str, dict[str, tuple[float, ...]]] = {
    "labels": {
        "CSAP": (0.015,),
        "CSP": (-0.006,),
        "E2CP": (0.018,),
        "NCSC": (0.017,),
        "NormalizedCut": (-0.025,),
        "PoissonMBO": (0.027,),
        "angles": (0.077, 0.0, 0.024),
        "classifier": (-0.01,),
        "columns": (0.009, 0.015, 0.014),
        "metric of columns": (0.007, 0.002, 0.006),
        "metric of raw": (0.005, -0.003, 0.02),
        "metric of scaled": (-0.002, 0.007, -0.001),
        "numeric": (-0.009, -0.009, -0.032),
        "raw": (-0.014, -0.027, 0.009),
        "scaled": (-0.006, 0.019, -0.015),
        "words": (-0.075, 0.0, -0.021),
    },
    "pairs": {
        "CSAP": (0.016,),
        "CSP": (-0.011,),
        "E2CP": (0.007,),
        "NCSC": (0.009,),
        "NormalizedCut": (-0.046,),
        "PoissonMBO": (0.017,),
        "columns": (0.011, 0.006, 0.02),
        "metric of columns": (0.018, 0.008, 0.013),
        "metric of raw": (0.003, -0.001, 0.02),
        "metric of scaled": (0.004, 0.008, -0.001),
        "numeric": (-0.026, -0.005, -0.061),
        "raw": (-0.001, -0.024, 0.009),
        "scaled": (-0.003, 0.018, -0.013),
        "angles": (0.077, 0.0, 0.024),
        "classifier": (-0.01,),
        "words": (-0.075, 0.0, -0.021),
    },
}
#: How far a score on held-out constraints is trusted, and with how many points half as far.
TRUST: dict[str, tuple[float, float]] = {"labels": (1.6, 10.0), "pairs": (1.867, 100.0)}
#: Of the share of points that are right: how many held-out points the agreement of the voters
#: counts for, a constant, and what the share that was found and the agreement count.
ACCURACY: dict[str, tuple[float, ...]] = {
    "labels": (100.0, -0.174, 0.887, 0.235),
    "pairs": (30.0, -0.206, 0.831, 0.348),
}
