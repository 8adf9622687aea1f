"""Programs that leave with an export and run where none of our packages are."""
