"""Weighted graphs: packed arcs in RAM or on disk, shortest paths, clusters and diameters on them."""
