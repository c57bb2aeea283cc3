"""`tortuga keys`: the keys that sign the gateway's tokens, in the data folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli import output
from services.kit.keys import BadKeys, open_keys
from services.kit.tokens import PUBLISHED_FIRST_SECONDS, Keyring

app = typer.Typer(help="The keys that sign the gateway's tokens.", no_args_is_help=True)

_CANNOT = 1

Data = Annotated[Path, typer.Option(envvar="TORTUGA_DATA", help="The data folder of the gateways.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")]


@app.command()
def rotate(data: Data = Path(".tortuga"), as_json: AsJson = False) -> None:
    """Make a new key. Running gateways take it up within 10 seconds, publish it, and sign with it a minute later.

    Nobody is signed out: the old key stays published until the last token that it signed has expired.
    """
    try:
        Keyring.open(data).rotate()
        newest = open_keys(data / "keys")[-1]
    except (BadKeys, OSError) as error:
        output.fail(f"cannot make a key: {error}", _CANNOT)
    text = f"made key {newest.kid}; it signs in {PUBLISHED_FIRST_SECONDS} seconds"
    output.result({"kid": newest.kid, "made_ms": newest.made_ms}, as_json=as_json, text=text)


@app.command("list")
def list_keys(data: Data = Path(".tortuga"), as_json: AsJson = False) -> None:
    """List the published keys, oldest first."""
    try:
        keys = open_keys(data / "keys")
    except (BadKeys, OSError) as error:
        output.fail(f"cannot read the keys: {error}", _CANNOT)
    found = [{"kid": key.kid, "made_ms": key.made_ms} for key in keys]
    output.result({"keys": found}, as_json=as_json, text="\n".join(key.kid for key in keys))
