"""Other libraries, each measured in a process of its own: one module a library.

A module has `load(csr)` (its graph of a scipy CSR matrix with both directions of every edge) and
`TASKS`: "bfs" is a function (graph, source), "diameter" one of (graph) that returns the diameter
of the largest component.
"""
