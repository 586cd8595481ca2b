"""Exact methods on graphs with directions: one file a method; method.py has the common part."""
