"""Vertex state on disk: an engine for graphs for which even a few bytes per vertex do not fit in memory."""
