"""`python -m eval`, in a checkout: evaluation is no part of what is installed."""

from eval.cli import app

if __name__ == "__main__":
    app(prog_name="python -m eval")
