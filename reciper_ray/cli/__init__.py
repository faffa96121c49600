"""The `reciper` command: its verbs, and how errors leave it.

Exit codes: 0 done, 1 failed, 2 wrong usage. Results go to stdout, everything else to stderr.
"""

import sys

import typer

from reciper_ray.cli.build import build
from reciper_ray.cli.evaluate import evaluate
from reciper_ray.cli.inspect import inspect
from reciper_ray.cli.query import ask, search
from reciper_ray.cli.serve import serve
from reciper_ray.cli.snapshots import snapshots
from reciper_ray.errors import ReciperError

app = typer.Typer(
    name="reciper",
    help="Ask procedure questions of materials-science papers.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (build, serve, search, ask, evaluate, inspect):
    app.command()(command)
app.add_typer(snapshots, name="snapshots")


def main() -> None:
    """Run the command line; an error on purpose is one line on stderr and exit code 1."""
    try:
        app()
    except ReciperError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
