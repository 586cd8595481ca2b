"""Tests of emdiam/shortest_paths."""
