"""Evidence and findings -> card. Pure: what needs a container is a harness function that makes more evidence."""
