"""Weight files: found, read without unpickling anything but tensors, and matched name by name."""
