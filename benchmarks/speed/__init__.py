"""Speed, always as a ratio of two things measured in the same run on the same graph."""
