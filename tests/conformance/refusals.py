"""What a refusal may look like: a code in capitals, parameters that are strings, and nothing that reads as prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from services.kit.rules import RuleError

_REASON = re.compile(r"[A-Z]+(_[A-Z]+)*")
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
_LONGEST = 200
"""Characters of a parameter's value; what a person has to be told is the client's business."""


def refusal_faults(refusal: RuleError) -> Iterator[str]:
    """What is wrong with *refusal*, in words."""
    reason: object = refusal.reason
    params = cast(Mapping[object, object], refusal.params)
    if not isinstance(reason, str) or not _REASON.fullmatch(reason):
        yield f"reason {reason!r}"
    for name, value in params.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            yield f"parameter name {name!r}"
        if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
            yield f"parameter {name}={value!r}"


def told_of(refusal: RuleError) -> tuple[str, ...]:
    """All that the actor is told: the reason, and the parameters by name."""
    return (refusal.reason, *(f"{name}={value}" for name, value in sorted(refusal.params.items())))
