"""Networks whose parameters have the names that their authors' checkpoints have."""
