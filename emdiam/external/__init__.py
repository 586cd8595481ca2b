"""Vertex state on disk: an engine for graphs of which not even a few bytes a vertex fit in memory."""
