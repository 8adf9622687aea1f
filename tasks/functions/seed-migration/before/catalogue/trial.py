"""What a migration would lose."""

from catalogue.migrate import Record, downgrade, upgrade


def there_and_back(record: Record) -> Record:
    """A record through its other format and back again."""
    return downgrade(upgrade(record)) if record.get("version") == 1 else upgrade(downgrade(record))
