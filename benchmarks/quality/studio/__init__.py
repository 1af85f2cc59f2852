"""The studio: how fast the page draws and recolours, and the pictures of it in the docs."""
