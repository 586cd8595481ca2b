"""Random graphs as other programs write them into files, and what a reader has to find there."""
