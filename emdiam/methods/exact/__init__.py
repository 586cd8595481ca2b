"""Exact diameters, one file a method, and the result they return."""
