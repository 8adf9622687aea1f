"""Labels for the drawers."""

from seedvault.vault import Vault


def label(vault: Vault, name: str) -> str:
    """One line for a lot's drawer."""
    card = vault.describe(name)
    return f"{name} | {card['species']} | {card['seeds']} seeds | {card['deposited']} at {card['percent']}%"
