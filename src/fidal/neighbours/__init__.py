"""Distances and neighbours among features: the kernels that selection spends its time in."""
