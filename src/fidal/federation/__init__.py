"""Between the sites: what may be sent, averaging, engines."""
