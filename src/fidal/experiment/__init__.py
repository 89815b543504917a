"""One experiment: configuration, the active-learning loop, rows."""
