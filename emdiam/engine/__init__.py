"""The engine: what algorithms may ask of a graph, and who answers it on the CPU."""
