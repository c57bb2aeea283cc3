"""The rule of concatenation, by descriptor: public bytes followed by own bytes are the seat's message.

`concatenation_faults` looks at a real pair and reports what breaks one of the five rules of design §5 ("Telling"), each
fault beginning with the rule's number:

1. A singular scalar or enum is set by one part only.
2. A packed list is wholly public or wholly own.
3. A repeated message may be public first and own after; an own element that completes a public one names it in `of`.
4. Nothing own sits inside an element of a repeated field, nor in a oneof or a map that the public part sets.
5. Two updates are never concatenated.

Besides, parsing the concatenation gives the same as merging the parsed parts ("0"), and nothing is unknown ("0").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

Wire: TypeAlias = Mapping[int, Sequence[object]]
"""What stands on the wire: every occurrence of every field, also of fields at their default."""


def concatenation_faults(
    response: Descriptor, public: bytes, own: bytes, own_fields: frozenset[str] = frozenset()
) -> list[str]:
    """What is wrong with *public* + *own* as one message of type *response* (or of a part of it, e.g. Update).

    *own_fields* are full names of fields that may never stand in public bytes.
    """
    faults = [
        *_own_in_public(response, on_wire(public), own_fields, response.name),
        *_two_updates(response, on_wire(public), on_wire(own)),
        *_overlaps(response, on_wire(public), on_wire(own), response.name),
    ]
    kind = GetMessageClass(response)
    merged = kind.FromString(public)
    merged.MergeFrom(kind.FromString(own))
    if kind.FromString(public + own) != merged:
        faults.append(f"0: {response.name}: parsing the concatenation differs from merging the parts")
    return faults


def on_wire(data: bytes) -> Wire:
    """The fields of *data* in order of their occurrence; a message's content is bytes."""
    found: dict[int, list[object]] = {}
    fields = UnknownFieldSet(Empty.FromString(data))
    for index in range(len(fields)):
        found.setdefault(fields[index].field_number, []).append(fields[index].data)
    return found


def _own_in_public(kind: Descriptor, public: Wire, own_fields: frozenset[str], path: str) -> Iterator[str]:
    for number, contents in public.items():
        field = kind.fields_by_number.get(number)
        if field is None:
            continue  # `_overlaps` reports it
        if field.full_name in own_fields:
            yield f"4: {path}.{field.name}: an own field in public bytes"
        elif field.message_type is not None:
            for content in contents:
                inner = on_wire(_bytes(content))
                yield from _own_in_public(field.message_type, inner, own_fields, f"{path}.{field.name}")


def _two_updates(response: Descriptor, public: Wire, own: Wire) -> Iterator[str]:
    header = response.fields_by_name.get("header")
    if header is not None:
        if len(public.get(header.number, ())) + len(own.get(header.number, ())) > 1:
            yield f"5: {response.name}: two headers, so two updates"
        if header.number in public:
            yield f"5: {response.name}: a header in public bytes, which are part of any update of theirs"


def _overlaps(kind: Descriptor, public: Wire, own: Wire, path: str) -> Iterator[str]:
    for oneof in kind.oneofs:
        if not _is_synthetic(oneof):
            members = {field.number for field in oneof.fields}
            if members & public.keys() and members & own.keys():
                yield f"4: {path}.{oneof.name}: own in a oneof that the public part sets"
    for number in public.keys() | own.keys():
        field = kind.fields_by_number.get(number)
        shown, hidden = public.get(number, ()), own.get(number, ())
        if field is None:
            yield f"0: {path}.{number}: unknown"
        elif field.is_repeated and field.message_type is not None and not _is_map(field):
            yield from _completions(field.message_type, shown, hidden, f"{path}.{field.name}")
        elif field.message_type is not None and not _is_map(field):
            # a singular message: its occurrences merge, and so does what they hold
            ours, theirs = (on_wire(b"".join(map(_bytes, contents))) for contents in (shown, hidden))
            yield from _overlaps(field.message_type, ours, theirs, f"{path}.{field.name}")
        elif shown and hidden:
            yield _twice(field, f"{path}.{field.name}")


def _twice(field: FieldDescriptor, path: str) -> str:
    if _is_map(field):
        return f"4: {path}: own in a map that the public part sets"
    return f"2: {path}: a list in both parts" if field.is_repeated else f"1: {path}: a scalar in both parts"


def _completions(element: Descriptor, public: Sequence[object], own: Sequence[object], path: str) -> Iterator[str]:
    of = element.fields_by_name.get("of")
    if of is None:
        return
    completed: set[int] = set()
    for content in public:
        if of.number in on_wire(_bytes(content)):
            yield f"3: {path}: a public element completes another"
    for content in own:
        for index in on_wire(_bytes(content)).get(of.number, ()):
            assert isinstance(index, int)
            if not 1 <= index <= len(public):
                yield f"3: {path}: an own element completes number {index} of {len(public)}"
            elif index in completed:
                yield f"3: {path}: two own elements complete number {index}"
            completed.add(index)


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_synthetic(oneof: OneofDescriptor) -> bool:
    """Whether protoc made *oneof* for an `optional` field."""
    return len(oneof.fields) == 1 and oneof.name == f"_{oneof.fields[0].name}"


def _bytes(content: object) -> bytes:
    """*content* of a length-delimited field.

    Raises:
        TypeError: a number stands where the descriptor has a message.
    """
    if not isinstance(content, bytes):
        raise TypeError(f"a message cannot be {content!r}")
    return content
