"""One attack a file, found by its name: `gr_20b_words.py` is the second probe of the catalogue's GR-20."""
