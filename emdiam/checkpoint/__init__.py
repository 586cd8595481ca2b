"""Checkpoints of long runs: what the traversals gave, on disk, so that a run that was stopped goes on.

See docs/checkpoints.md. The package sees engines and files; methods know nothing of it.
"""
