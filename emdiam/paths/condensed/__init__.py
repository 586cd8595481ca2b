"""Weighted graphs: packed arcs in RAM or on disk, shortest paths and clusters on them."""
