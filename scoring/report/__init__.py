"""Reports: a card as something to read."""
