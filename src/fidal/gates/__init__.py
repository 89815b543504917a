"""The gate: density x threshold."""
