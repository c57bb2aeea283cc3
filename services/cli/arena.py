"""`tortuga arena`: two of a game's bots against each other, over the rules alone and on all cores.

A bot is given what its seat's view and legal actions say, and nothing else. The first bot takes one seat and the second
all others; from match to match the first moves one seat on, so that every seat comes equally often.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from os import sched_getaffinity
from random import Random
from typing import Annotated, Any, Final, NamedTuple

import typer

from services.cli.output import fail, result
from services.cli.progress import Progress, progress
from services.cli.simulate import MOST_ACTIONS
from services.kit.bot import AnyBot, Sight
from services.kit.chance import Chance
from services.kit.game import AnyGame, UnknownGame, installed_games, load_game
from services.kit.rules import InvalidOptions, RuleError, Seat

_CONFIDENCE: Final = 1.959964
"""Standard deviations on either side of a 95 % interval."""

_THINKING_MS: Final = 1000.0
"""What a bot is told of the time it has left, at every decision; nobody stops it here."""


@dataclass(frozen=True)
class Contest:
    """What is to be played: *matches* matches of *game*, everything in them drawn from *seed*."""

    game: str
    first: str
    second: str
    variant: str
    seats: int
    matches: int
    seed: int

    def options(self, game: AnyGame) -> Any:
        """The options of the variant."""
        variants = {known.variant: known.options for known in game.description.variants}
        return game.wire.read_options(variants[self.variant] if self.variant else b"")


class Played(NamedTuple):
    """One match: the first bot's part of the win, 0 to 1, how it ended, and by bot its ms of thought and decisions."""

    part: float
    ending: str
    spent: dict[str, float]
    decisions: Counter[str]


@dataclass
class Score:
    """What came of a contest, from the first bot's side. *seconds* passed while it was played."""

    wins: int = 0
    ties: int = 0
    losses: int = 0
    seconds: float = 0.0
    endings: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)
    decisions: Counter[str] = field(default_factory=Counter)

    @property
    def matches(self) -> int:
        """Matches played."""
        return self.wins + self.ties + self.losses

    @property
    def win_rate(self) -> float:
        """Part of the matches that the first bot won, a shared win counted half."""
        return (self.wins + self.ties / 2) / self.matches

    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the win rate."""
        return wilson(self.win_rate, self.matches)

    def mean_ms(self, bot: str) -> float:
        """Milliseconds that *bot* thought about a decision, on average."""
        return self.spent[bot] / self.decisions[bot] if self.decisions[bot] else 0.0

    def add(self, played: Played) -> None:
        """Count one more match."""
        if played.part == 1.0:
            self.wins += 1
        elif played.part:
            self.ties += 1
        else:
            self.losses += 1
        self.endings[played.ending] += 1
        self.spent.update(played.spent)
        self.decisions.update(played.decisions)


def arena(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game's id.")],
    first: Annotated[str, typer.Argument(metavar="BOT", help="The bot whose win rate is told, by its level.")],
    second: Annotated[str, typer.Argument(metavar="BOT", help="The bot in all other seats.")],
    matches: Annotated[int, typer.Option(min=1, help="Matches to play.")] = 100,
    seats: Annotated[int | None, typer.Option(help="Seats of each match; by default the fewest.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed plays the same matches.")] = 0,
    variant: Annotated[str, typer.Option(help="A variant of the game; by default the standard game.")] = "",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes to play in; by default one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Let two bots of a game play each other, and tell how often the first wins. A shared win counts half."""
    contest = _prepared(game, (first, second), variant, seats, matches, seed)
    try:
        with progress(f"arena {game}: {first} against {second}", matches) as bar:
            score = play(contest, workers, bar)
    except RuleError as refusal:
        fail(f"a bot's play was refused, or the match did not end: {refusal.reason}")
    except BrokenProcessPool:
        fail("a process that played matches has died")
    result(_summary(contest, score), as_json=as_json, text=_sentences(contest, score))


def play(contest: Contest, workers: int | None = None, bar: Progress | None = None) -> Score:
    """Play all matches, in so many processes.

    Raises:
        RuleError: a bot played what is not legal, or nobody was asked, or the match did not end.
    """
    score = Score()
    started = time.perf_counter()
    for played in _all_matches(contest, workers or len(sched_getaffinity(0))):
        score.add(played)
        if bar is not None:
            bar.advance()
    score.seconds = time.perf_counter() - started
    return score


def wilson(rate: float, of: int) -> tuple[float, float]:
    """The 95 % interval after Wilson for a part *rate* of *of* trials."""
    z = _CONFIDENCE
    centre = rate + z * z / (2 * of)
    reach = z * sqrt(rate * (1 - rate) / of + z * z / (4 * of * of))
    whole = 1 + z * z / of
    return max(0.0, (centre - reach) / whole), min(1.0, (centre + reach) / whole)


def play_match(contest: Contest, number: int) -> Played:
    """Play one match, numbered from 0.

    Raises:
        RuleError: as `play`.
    """
    game = load_game(contest.game)
    bots, options, rules = game.bots(), contest.options(game), game.rules
    lead = Seat(number % contest.seats)
    key = hashlib.sha256(f"tortuga/arena/{contest.game}/{contest.seed}/{number}".encode()).digest()
    spent: set[str] = set()
    thought: dict[str, float] = {contest.first: 0.0, contest.second: 0.0}
    decisions: Counter[str] = Counter()
    chance = Chance(key, spent)
    state, _ = rules.start(options, contest.seats, chance, rules.versions[0])
    spent.update(chance.used)
    actions = 0
    while (outcome := state.outcome()) is None:
        seat = _asked(state, actions)
        level = contest.first if seat == lead else contest.second
        sight = Sight(seat, options, rules.versions[0], state.view(seat), state.legal(seat))
        luck = Random(f"{contest.seed}/{number}/{actions}")  # noqa: S311 - a bot's choices in an experiment, no secrets
        began = time.perf_counter()
        action = _choice(bots[level], sight, luck)
        thought[level] += 1000 * (time.perf_counter() - began)
        decisions[level] += 1
        chance = Chance(key, spent)
        state = state.copy()
        state.apply(seat, action, chance)
        spent.update(chance.used)
        actions += 1
    best = [place.seat for place in outcome.places if place.rank == 1]
    part = 1.0 / len(best) if lead in best else 0.0
    return Played(part, outcome.reason, thought, decisions)


def _choice(bot: AnyBot, sight: Sight[Any, Any, Any], luck: Random) -> Any:
    advice = bot.advise(sight, luck, lambda: _THINKING_MS)
    if not advice:
        raise RuleError("NOTHING_ADVISED")
    return advice[0].action


def _asked(state: Any, actions: int) -> Seat:
    """The seat that decides next; of several that are asked at once the lowest."""
    asked = state.asked()
    if not asked:
        raise RuleError("NOBODY_ASKED")
    if actions == MOST_ACTIONS:
        raise RuleError("ENDLESS")
    seat: Seat = asked[0].seat
    return seat


def _all_matches(contest: Contest, workers: int) -> Iterator[Played]:
    """The matches in their order, played by so many processes, or by this one."""
    numbers = range(contest.matches)
    workers = min(workers, contest.matches)
    if workers == 1:
        yield from map(partial(play_match, contest), numbers)
        return
    # a fresh interpreter for each: a fork would copy locks that other threads hold
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        try:
            yield from pool.map(partial(play_match, contest), numbers)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _prepared(game: str, levels: tuple[str, str], variant: str, seats: int | None, matches: int, seed: int) -> Contest:
    """The contest that the arguments ask for; ends the command with 2 if they name what is not there."""
    try:
        loaded = load_game(game)
    except UnknownGame:
        fail(f"there is no game {game}; there are: {', '.join(installed_games()) or 'none'}", 2)
    bots = loaded.bots()
    for level in levels:
        if level not in bots:
            fail(f"{game} has no bot {level}; it has: {', '.join(bots) or 'none'}", 2)
    variants = [known.variant for known in loaded.description.variants]
    if variant and variant not in variants:
        fail(f"{game} has no variant {variant}; it has: {', '.join(variants)}", 2)
    seats = loaded.description.min_seats if seats is None else seats
    contest = Contest(game, *levels, variant, seats, matches, seed)
    try:
        loaded.rules.check(contest.options(loaded), seats)
    except InvalidOptions as refusal:
        fail(f"{game} with {seats} seats: {refusal.reason}", 2)
    return contest


def _summary(contest: Contest, score: Score) -> dict[str, object]:
    """What `--json` prints."""
    low, high = score.interval()
    return {
        "game": contest.game,
        "variant": contest.variant,
        "first": contest.first,
        "second": contest.second,
        "win_rate": round(score.win_rate, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "matches": score.matches,
        "wins": score.wins,
        "ties": score.ties,
        "losses": score.losses,
        "seats": contest.seats,
        "seed": contest.seed,
        "outcomes": dict(sorted(score.endings.items())),
        "mean_ms": {bot: round(score.mean_ms(bot), 3) for bot in score.decisions},
        "seconds": round(score.seconds, 3),
    }


def _sentences(contest: Contest, score: Score) -> str:
    """What is printed for people."""
    low, high = score.interval()
    endings = ", ".join(f"{count} {reason}" for reason, count in score.endings.most_common())
    thought = ", ".join(f"{bot} {score.mean_ms(bot):.1f}" for bot in score.decisions)
    return "\n".join(
        [
            f"{contest.first} against {contest.second} in {score.matches} matches of {contest.game} with "
            f"{contest.seats} seats, seed {contest.seed}: {endings}",
            f"won {score.wins}, shared {score.ties}, lost {score.losses}: "
            f"{score.win_rate:.1%} (95 % interval {low:.1%} to {high:.1%})",
            f"milliseconds a decision: {thought}; {score.seconds:.1f} s in all",
        ]
    )
