"""One file a way to pass over edges: BFS, spread, components, chains, paths; kernels beside them."""
