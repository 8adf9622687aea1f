"""Questions to CSV files."""
