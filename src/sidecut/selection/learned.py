"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""

#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.
GAINS: dict[str, dict[str, tuple[float, ...]]] = {
    "labels": {
        "CSAP": (0.012,),
        "CSP": (-0.008,),
        "E2CP": (0.017,),
        "NCSC": (0.011,),
        "NormalizedCut": (-0.026,),
        "PoissonMBO": (0.022,),
        "angles": (0.05, 0.0, 0.167),
        "classifier": (-0.002,),
        "columns": (0.009, 0.013, 0.014),
        "metric of columns": (0.009, 0.003, 0.006),
        "metric of raw": (0.006, 0.001, 0.017),
        "metric of scaled": (0.001, 0.009, 0.0),
        "numeric": (-0.015, -0.01, -0.008),
        "raw": (-0.009, -0.026, -0.002),
        "scaled": (-0.005, 0.016, -0.009),
        "words": (-0.048, 0.0, -0.159),
    },
    "pairs": {
        "CSAP": (0.013,),
        "CSP": (0.002,),
        "E2CP": (-0.002,),
        "NCSC": (0.005,),
        "NormalizedCut": (-0.044,),
        "PoissonMBO": (0.011,),
        "columns": (0.013, 0.007, 0.023),
        "metric of columns": (0.011, -0.001, 0.024),
        "metric of raw": (0.009, 0.005, 0.009),
        "metric of scaled": (-0.002, 0.004, 0.005),
        "numeric": (-0.023, -0.004, -0.07),
        "raw": (0.006, -0.016, -0.002),
        "scaled": (-0.009, 0.011, 0.002),
        "angles": (0.05, 0.0, 0.167),
        "classifier": (-0.002,),
        "words": (-0.048, 0.0, -0.159),
    },
}
#: How far a score on held-out constraints is trusted, and with how many points half as far.
TRUST: dict[str, tuple[float, float]] = {"labels": (1.701, 10.0), "pairs": (1.967, 100.0)}
#: Of the share of points that are right: how many held-out points the agreement of the voters
#: counts for, a constant, and what the share that was found and the agreement count.
ACCURACY: dict[str, tuple[float, ...]] = {
    "labels": (30.0, -0.215, 1.055, 0.114),
    "pairs": (100.0, 0.025, 0.837, 0.092),
}
