"""How good the clusters are: of sidecut, of other packages, and of sidecut inside other packages."""
