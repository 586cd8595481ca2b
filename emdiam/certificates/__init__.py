"""Verification of a certificate's claims, with code that shares nothing with the methods.

The engine only proposes distances. This package checks, on data read from the store, that they are distances, which
vertices are connected, and that all pairs are close enough.
"""
