"""Networks, losses and local training."""
