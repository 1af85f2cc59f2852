"""Command lines made up at random, to see that none of them breaks."""
