"""The commands, one group a file. A module here imports next to nothing, so that `--help` is quick."""
