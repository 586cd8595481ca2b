"""Benchmarks of emdiam, with other libraries as columns of the same run: python -m bench --help."""
