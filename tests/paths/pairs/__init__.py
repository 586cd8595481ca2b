"""Tests of emdiam/paths/pairs."""
