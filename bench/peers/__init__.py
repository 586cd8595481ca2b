"""Other libraries, each measured in a process of its own: one module a library.

A module has `TASKS`: name -> (load, task). load(csr) makes what the task works on of a scipy CSR
matrix with both directions of every edge; it is not timed. "bfs" is a task (graph, source);
"diameter" one of (loaded) that returns the largest diameter over all components; "eccentricities" one of (loaded,
vertices) that returns theirs, each within its component.
"""
