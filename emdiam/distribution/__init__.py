"""How distances are distributed: pairs by distance, mean, effective diameter, and centralities of vertices."""
