"""Whether every command keeps to --memory: measured peaks of processes of their own (python -m bench.memory)."""
