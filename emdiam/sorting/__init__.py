"""Sorting of more 64-bit keys than fit in RAM, and the scratch files that it uses."""
