"""`python -m eval.research`, in a checkout."""

from eval.research.cli import app

if __name__ == "__main__":
    app(prog_name="python -m eval.research")
