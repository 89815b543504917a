"""Open-set federated active learning for medical images."""
