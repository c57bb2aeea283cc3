"""Display names: normalised, and nothing in them that does not show or pretends to be what it is not."""

from __future__ import annotations

import unicodedata

from services.kit.errors import Malformed

LONGEST_NAME = 24
"""Characters of a display name at most, after normalisation."""

_JOINERS = "\u200c\u200d"
"""Zero-width joiners: some scripts and many emoji cannot be written without them."""

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that no name may hold: controls, reorderings, surrogates, line ends, the unassigned."""

_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")
"""Scripts whose letters pass for each other's; a name may have letters of one of them."""


def display_name(wished: str) -> str:
    """*wished* as it is kept and shown: composed (NFC), no space at the ends, single ones inside. Empty means none.

    Raises:
        Malformed: DISPLAY_NAME_INVALID with max: too long, a character that does not show, nothing that does, or
            letters of two scripts that pass for each other's (a Cyrillic letter in a Latin name).
    """
    name = _single_spaced(unicodedata.normalize("NFC", wished).strip())
    if len(name) > LONGEST_NAME or any(map(_hidden, name)) or (name and not name.strip(_JOINERS)) or _mixed(name):
        raise Malformed("DISPLAY_NAME_INVALID", max=LONGEST_NAME)
    return name


def _single_spaced(name: str) -> str:
    """Runs of spaces, whatever their width, as one plain space. Tabs and line ends stay, to be refused."""
    plain = (" " if unicodedata.category(char) == "Zs" else char for char in name)
    return " ".join(part for part in "".join(plain).split(" ") if part)


def _hidden(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE and char not in _JOINERS


def _mixed(name: str) -> bool:
    letters = [unicodedata.name(char, "") for char in name if unicodedata.category(char).startswith("L")]
    return sum(any(letter.startswith(script) for letter in letters) for script in _SCRIPTS) > 1
