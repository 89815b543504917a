"""A federation of machines: configuration, keys, and the processes at a site and a coordinator."""
