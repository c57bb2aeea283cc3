"""Faults planted in Nim's contract: what is replaced by what, and words of the fault that has to be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.contract.rules import any_faults, comment_faults, enum_faults, file_faults, game_faults

Rule = Callable[[FileDescriptorSet], Iterator[str]]


class Plant(NamedTuple):
    """One planted fault. *found* is part of what *rule* then says."""

    rule: Rule
    found: str
    old: str
    new: str


_RECORD = "  // It.\n  tortuga.play.v1.Record record = 9;\n"
_ONEOF = "  oneof answer {\n    // It.\n    tortuga.play.v1.Applied applied = 4;\n  }"
_KIND = "  oneof kind {\n    // Take stones.\n    Take take = 1;\n  }"
_PEEK = "  // More.\n  rpc Peek(WatchRequest) returns (WatchResponse);\n"
_REPLAY = "  rpc Replay(ReplayRequest) returns (stream ReplayResponse);\n"
_ACTION = "  Action action = 16;"
_SAID = "  repeated tortuga.play.v1.Said"
_TEMPLATES = "  repeated Action templates = 4;"

PLANTS = {
    # comments
    "a field without a comment": Plant(comment_faults, "Take.count", "  // How many.\n  uint32", "  uint32"),
    "a message without a comment": Plant(comment_faults, "message tortuga.nim.v1.Take", "// Take takes stones.\n", ""),
    "an enum without a comment": Plant(comment_faults, "enum tortuga.nim.v1.First", "// First says who begins.\n", ""),
    "a value without a comment": Plant(comment_faults, "FIRST_ZERO", "  // Seat 0.\n", ""),
    "a oneof without a comment": Plant(comment_faults, "oneof tortuga.nim.v1.Action", "  // Exactly one.\n", ""),
    "a call without a comment": Plant(comment_faults, "NimService.Act", "  // One action.\n", ""),
    "a service without a comment": Plant(comment_faults, "service", "// NimService plays Nim.\n", ""),
    "a file without a comment": Plant(comment_faults, "file", "// Nim: whoever takes the last stone wins.\n", ""),
    "a comment that is no sentence": Plant(comment_faults, "full stop", "// Stones left.\n", "// stones\n"),
    # files, enums, types
    "a zero that means something": Plant(enum_faults, "FIRST_SOMEONE", "FIRST_UNSPECIFIED", "FIRST_SOMEONE"),
    "two services": Plant(
        file_faults, "2 services", "// Options of", "// More.\nservice MoreService {}\n\n// Options of"
    ),
    "an Any": Plant(any_faults, "View.stones", "  uint32 stones = 1;", "  google.protobuf.Any stones = 1;"),
    "a second version's package": Plant(game_faults, "package", "package tortuga.nim.v1;", "package tortuga.nim.v2;"),
    # calls
    "a fifth call": Plant(game_faults, "the calls are", "  // A match.\n", f"{_PEEK}  // A match.\n"),
    "a call too few": Plant(game_faults, "the calls are", _REPLAY, ""),
    "an Act that streams": Plant(
        game_faults, "Act: wrong side", "returns (ActResponse)", "returns (stream ActResponse)"
    ),
    "a Watch that does not": Plant(game_faults, "Watch: wrong side", "(stream WatchResponse)", "(WatchResponse)"),
    "a Play that listens only": Plant(game_faults, "Play: wrong side", "Play(stream PlayRequest)", "Play(PlayRequest)"),
    "a call with another's message": Plant(game_faults, "Act: takes", "rpc Act(ActRequest)", "rpc Act(WatchRequest)"),
    # the platform's fields
    "another type": Plant(game_faults, "talk: differs", "tortuga.play.v1.Talk talk", "string talk"),
    "another name": Plant(game_faults, "chat: differs", "tortuga.play.v1.Talk talk", "tortuga.play.v1.Talk chat"),
    "another number": Plant(game_faults, "PlayRequest: has", "v1.Renew renew = 3", "v1.Renew renew = 6"),
    "a list instead": Plant(game_faults, "kit: differs", "  tortuga.play.v1.Kit", "  repeated tortuga.play.v1.Kit"),
    "a field among the platform's": Plant(game_faults, "has", _ACTION, f"{_ACTION}\n  // Fast.\n  bool fast = 15;"),
    "a field above the game's": Plant(game_faults, "own part", _ACTION, f"{_ACTION}\n  // Fast.\n  bool fast = 17;"),
    "the game's part renamed": Plant(game_faults, "own part", "Update update = 16", "Update news = 16"),
    "the game's part moved": Plant(game_faults, "own part", "Update update = 16", "Update update = 18"),
    "a record outside Replay": Plant(game_faults, "PlayResponse: has", _SAID, f"{_RECORD}  // S.\n{_SAID}"),
    "an answer in a oneof": Plant(game_faults, "oneof", "  tortuga.play.v1.Applied applied = 4;", _ONEOF),
    # options
    "no options": Plant(game_faults, "Options: missing", "message Options", "message Settings"),
    "an option without presence": Plant(game_faults, "not optional", "  optional uint32 stones", "  uint32 stones"),
    "an option that is a list": Plant(game_faults, "flat", "  optional uint32 stones", "  repeated uint32 stones"),
    "an option that is a text": Plant(game_faults, "flat", "  optional uint32 stones", "  optional string stones"),
    "an option that is a message": Plant(game_faults, "flat", "  optional uint32 stones", "  optional Take stones"),
    # the game's own messages
    "an update with more": Plant(
        game_faults, "other fields", _TEMPLATES, f"{_TEMPLATES}\n  // Luck.\n  uint32 luck = 5;"
    ),
    "a single event": Plant(game_faults, "Update.events", "  repeated Event events", "  Event events"),
    "legal actions of another kind": Plant(
        game_faults, "Update.legal", "  repeated Action legal", "  repeated Take legal"
    ),
    "events that complete nothing": Plant(game_faults, "Event.of", "  uint32 of = 1;", "  uint32 index = 1;"),
    "an action that is no oneof": Plant(game_faults, "Action: is not", _KIND, "  Take take = 1;"),
    # cards
    "a message called card": Plant(
        game_faults, "HandCard", "message View {", "message HandCard {}\n// V.\nmessage View {"
    ),
    "a card inside a message": Plant(
        game_faults, "View.Card", "message View {", "message View {\n  // C.\n  message Card {}"
    ),
    "a list of lone integers": Plant(game_faults, "View.taken", "  repeated uint32 taken", "  repeated Take taken"),
    "a message for one integer": Plant(game_faults, "View.stones", "  uint32 stones = 1;", "  Take stones = 1;"),
}
