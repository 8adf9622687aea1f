"""Find or start a Docker-compatible engine, build images for it, and run one sandbox at a time on it."""
