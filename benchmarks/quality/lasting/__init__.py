"""Do clusters last? New points, slight changes, new classes, drift and wrong links, with the truth known."""
