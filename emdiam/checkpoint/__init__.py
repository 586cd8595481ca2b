"""Checkpoints of long runs: the results of traversals on disk, so that a stopped run can resume.

See docs/checkpoints.md. The package uses engines and files; methods do not know about it.
"""
