"""Orders of the vertices of a store: where neighbours lie close together, a traversal reads few blocks.

This room stands above the engine: some orders need traversals. The orders by name are in
registry.py, placing.py is what they share, run.py puts a store into one of them.
"""
