"""BFS on a GPU as published, each variant by its name; imported only when one is named."""
