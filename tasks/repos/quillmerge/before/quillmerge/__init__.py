"""Three-way merge of texts."""
