"""The journal of a run: the results of its engine's verbs on disk, so that it can resume. See docs/checkpoints.md."""
