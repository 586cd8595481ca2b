"""Shortest paths along weights on a device: from one source, and between all pairs; one file a system of the papers."""
