"""Shortest paths from one vertex of a graph with weights: one file a method, in RAM and streamed."""
