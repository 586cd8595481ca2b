"""From a stream of edges to a store: ids become vertices, pairs become sorted rows."""
