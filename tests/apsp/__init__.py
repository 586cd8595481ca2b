"""Tests of emdiam/apsp."""
