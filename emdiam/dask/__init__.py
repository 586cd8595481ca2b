"""Many machines: the engine over workers of dask.distributed, each of which owns a range of vertices."""
