"""How well AutoCut chooses: on data that no order and no constant was set on."""
