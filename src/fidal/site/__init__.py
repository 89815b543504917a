"""One clinic: images, labels, ledger and model."""
