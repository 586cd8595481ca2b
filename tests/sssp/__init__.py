"""Tests of emdiam/sssp."""
