"""The command line: one module per command; each parses, calls one library function and prints."""
