"""The console script `tortuga`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from services.cli.arena import arena
from services.cli.bench import app as bench
from services.cli.demo import demo
from services.cli.export import export
from services.cli.keys import app as keys
from services.cli.matches import matches
from services.cli.replay import replay
from services.cli.serve import serve
from services.cli.simulate import simulate
from services.cli.up import up
from services.cli.verify import verify
from services.cli.watch import watch

app = typer.Typer(
    name="tortuga",
    help="Pirate games, each its own gRPC service behind one matchmaking gateway.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        print(version("tortuga-games"))
        raise typer.Exit


@app.callback()
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Options before any command."""


app.command()(serve)
app.command()(up)
app.command()(simulate)
app.command()(arena)
app.command()(demo)
app.command()(watch)
app.command()(replay)
app.command()(matches)
app.command()(export)
app.command()(verify)
app.add_typer(bench, name="bench")
app.add_typer(keys, name="keys")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
