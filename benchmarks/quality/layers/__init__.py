"""How good Layers is: with nothing known beside other tools, with few labels, and at counting clusters."""
