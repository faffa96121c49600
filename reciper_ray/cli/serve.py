"""`reciper serve`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from reciper_ray import config


def serve(
    snapshot: Annotated[str, typer.Option(help="URI that `reciper build` wrote to.")],
    config_file: Annotated[
        Path | None, typer.Option("--config", help="Configuration (YAML), ours or Ray Serve's.")
    ] = None,
) -> None:
    """Serve a snapshot over gRPC until Ctrl-C."""
    settings = config.load(config_file)
    from reciper_ray.serve import start

    out = sys.stdout
    start.serve(snapshot, settings, lambda what: print(f"ready: {what}", file=out, flush=True))
