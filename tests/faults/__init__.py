"""Disks, clocks, networks and neighbours that fail, under the commands that read and write files."""
