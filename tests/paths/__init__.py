"""Tests of emdiam/paths."""
