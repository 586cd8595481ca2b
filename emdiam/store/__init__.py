"""The store: a graph on disk as a chunked CSR of Zarr arrays; written, opened, read, checked."""
