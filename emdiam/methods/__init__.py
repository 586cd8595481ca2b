"""The methods: exact ones and approximations, which see vertices, columns and the verbs of the engine."""
