"""What a graph on disk is: store layout, writing, opening, conversion, generation, formats."""
