"""A disk that can be filled: a small tmpfs, mounted for one test."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

import pytest

_PIECE = 4096


class SmallDisk:
    """A file system of two MiB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.was_filled = False
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave no room, and prove it: a plain write of one byte fails."""
        self.was_filled = True
        with self._filler.open("ab", buffering=0) as file:
            for piece in (bytes(_PIECE), b"x"):
                _write_until_full(file, piece)
        with pytest.raises(OSError, match="No space left"):
            (self.folder / "plain").write_bytes(b"x")
        (self.folder / "plain").unlink()

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()


def _write_until_full(file: RawIOBase, piece: bytes) -> None:
    while True:
        try:
            file.write(piece)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A small disk at *folder*. Where the test may not mount one it is skipped; in CI it fails."""
    folder.mkdir()
    command = ("mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"no tmpfs may be mounted here: {done.stderr.strip()}"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)  # on somebody's machine, where only root may mount; in CI this line is not reached
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)
