"""Proving the claims of a certificate again, by code that shares nothing with the methods.

The engine only proposes distances. That they are distances, which vertices belong together, and
that all pairs are close enough is checked here, on what is read from the store.
"""
