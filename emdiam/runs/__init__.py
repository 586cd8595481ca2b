"""One run: a method of the registry on a store, planned, opened, solved, kept in a checkpoint, finished."""
