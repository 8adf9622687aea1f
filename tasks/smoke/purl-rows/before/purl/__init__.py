"""Works knitting patterns out."""
