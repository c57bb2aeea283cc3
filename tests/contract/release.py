"""`make release-contract`: freeze proto/ as it is now, and say so in the changelog.

What is frozen is what clients were built against: `buf breaking` in `make check` holds proto/ to it, so a field may be
added, but none renumbered, renamed, retyped or removed.
"""

from __future__ import annotations

import datetime
import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASED = ROOT / "tests" / "contract" / "released.binpb"
_SECTION = "### Contracts released\n"


def buf(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the environment's buf in the project's folder."""
    command = [str(Path(sys.executable).parent / "buf"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def changelog_line() -> str:
    """What the changelog says of the frozen contract: when, and its fingerprint."""
    fingerprint = hashlib.sha256(RELEASED.read_bytes()).hexdigest()[:16]
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return f"- {today}: `tests/contract/released.binpb` {fingerprint}\n"


def main() -> int:
    """Freeze; returns the exit status."""
    built = buf("build", "proto", "-o", str(RELEASED))
    if built.returncode != 0:
        print(built.stderr, file=sys.stderr)
        return built.returncode
    changelog = ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if _SECTION not in text:
        text = text.replace("### Added\n", f"{_SECTION}\n\n### Added\n", 1)
    changelog.write_text(text.replace(_SECTION, _SECTION + "\n" + changelog_line(), 1).replace("\n\n\n", "\n\n"))
    print(changelog_line(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
