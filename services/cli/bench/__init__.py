"""`tortuga bench`: measures what the platform promises about speed and memory (docs/performance.md)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

BENCHMARKS = ("actions", "idle", "log", "rules", "fold", "fanout")
"""The commands; each is the function of that name in the module of that name."""


class _OnDemand(TyperGroup):
    """Loads a benchmark when it is called for, so that `tortuga serve` carries none of them.

    Contexts and commands are Any: their classes are click's or typer's own, by typer's version.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """All benchmarks."""
        return list(BENCHMARKS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The benchmark of this name, or None."""
        if cmd_name not in BENCHMARKS:
            return None
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        one.command(cmd_name)(getattr(import_module(f"services.cli.bench.{cmd_name}"), cmd_name))
        return typer.main.get_command(one)


app = typer.Typer(
    cls=_OnDemand,
    help="Measure speed and memory. Each starts what it needs on free ports; figures are medians of short slices.",
    no_args_is_help=True,
)
