"""Approximations of the diameter, each with bounds that are proved."""
