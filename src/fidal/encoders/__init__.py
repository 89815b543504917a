"""Frozen encoders g(x), and the cache of what they say about each image."""
