"""The journal of a run: what the verbs of its engine gave, on disk, so that it goes on. See docs/checkpoints.md."""
