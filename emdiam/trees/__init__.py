"""Spanning trees of a graph: made, hung from a root, refined, measured, toured."""
