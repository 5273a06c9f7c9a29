"""`python -m eval`, in a checkout: the same as `tiermem eval`."""

from eval.cli import app

if __name__ == "__main__":
    app(prog_name="python -m eval")
