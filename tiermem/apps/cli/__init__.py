"""The command line: a command is in the file of its name, with its arguments and what it prints."""


def main() -> None:
    """Run the command line (the `tiermem` script)."""
    from tiermem.apps.cli.app import app

    app(prog_name="tiermem")
