"""``python -m scoring.schema``: write the schema anew after a model has changed."""

from scoring.schema import schema_path, schema_text

schema_path().write_bytes(schema_text())
