"""Planted faults, one at a time, each of which the quick tests have to catch."""
