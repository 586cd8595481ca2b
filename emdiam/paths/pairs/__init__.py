"""Distances between all pairs of vertices: one file a method, over rows of the graph or over tiles of the matrix."""
