"""`python -m emdiam` is the `emdiam` command."""

from .cli.main import main

if __name__ == "__main__":
    main()
