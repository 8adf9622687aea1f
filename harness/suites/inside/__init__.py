"""Programs that run in a sealed container while an author's task is measured. They know nothing of the harness."""
