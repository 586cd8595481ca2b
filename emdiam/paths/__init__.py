"""Shortest paths along weights: from one vertex, one file a method, in RAM and streamed; between all pairs; condensed
graphs."""
