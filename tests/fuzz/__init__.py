"""Attacks at random: damaged and hostile inputs, stores, certificates, checkpoints and signals, by number and seed."""
