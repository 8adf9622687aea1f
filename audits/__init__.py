"""Evidence -> findings. Pure: reads stored evidence and nothing else."""
