"""The eccentricity of every vertex, within its component."""
