"""What a client writes down: a line of JSON per event, flushed at once. The judge and the report read nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path


class Journal:
    """One client's file, `<name>.jsonl`. Times are `time.monotonic`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file = (folder / f"{name}.jsonl").open("a", encoding="utf-8", buffering=1)

    def write(self, kind: str, data: Mapping[str, object]) -> None:
        """Write a line: what went over the wire (see `services.client.Journal`), or

        - `shown`: the client took an update from its queue: seq, head (hex), seat;
        - `over`: the client saw the match end: state.
        """
        self._file.write(json.dumps({"at": time.monotonic(), "kind": kind, **data}) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()
