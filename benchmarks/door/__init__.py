"""The path of a person with a table and a few known classes: the commands, what they say, and the page."""
