"""The drawings of the `phantom` benchmark: skin, lesions, artefacts, and the clinics' cameras."""
