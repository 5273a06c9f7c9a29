"""`python -m tiermem`: the command line."""

from tiermem.apps.cli import main

if __name__ == "__main__":
    main()
