"""Benchmarks: what images there are, where, with which labels, and their decoded pixels."""
