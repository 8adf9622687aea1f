"""One module for each task format: its ``task.toml`` as a model."""
