"""sidecut inside other packages, and what people use there now."""
