"""Diameters of graphs with weights: lengths of shortest paths in place of numbers of edges."""
