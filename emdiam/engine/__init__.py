"""The engine: what algorithms may ask of a graph, and the implementation on the CPU."""
