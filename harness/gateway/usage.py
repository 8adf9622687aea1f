"""From what providers state to disjoint buckets, and from several usages to one.

Providers disagree on what contains what: the cached part of a prompt is inside OpenAI's ``prompt_tokens`` and outside
Anthropic's ``input_tokens``; reasoning is inside OpenAI's completion and outside Gemini's candidates. Where the
provider states a total it is the arbiter; where nothing fits it, the usage is ``usage_incomplete``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.digest import MAX_SAFE_INTEGER
from harness.gateway.records import CONTAINER, Bucket, Completeness, Fault, TraceLine, Usage

UNSTATED = "the provider does not set it apart"
NOT_SEEN = "the answer ended before it was stated"
LOST = frozenset({Fault.CUT_STREAM, Fault.MALFORMED, Fault.TIMEOUT})
"""Faults by which an answer is lost that the provider may have made, and may bill."""


def count(value: object) -> int | None:
    """A token count as a provider states it; None for anything else than a whole number that can be one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SAFE_INTEGER:
        return value
    return None


def member(value: object, name: str) -> Mapping[str, Any]:
    """An object inside an object; empty where there is none."""
    inner = value.get(name) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def usage(
    counts: Mapping[Bucket, int | None],
    *,
    total: int | None = None,
    incomplete: str = "",
    missing: str = UNSTATED,
) -> Usage:
    """A usage from its buckets. One that is absent is missing; a sum other than ``total`` makes it incomplete."""
    values = {bucket: counts.get(bucket) for bucket in Bucket}
    known = sum(value or 0 for value in values.values())
    if not incomplete and (values[Bucket.INPUT] is None or values[Bucket.OUTPUT] is None):
        incomplete = "the provider did not state its input and its output"
    if not incomplete and total is not None and total != known:
        incomplete = f"the buckets sum to {known}, the provider's total is {total}"
    if known > MAX_SAFE_INTEGER:
        return unavailable("the provider's counts are absurd")
    return Usage(
        **{bucket.value: value for bucket, value in values.items()},
        provider_total=total,
        completeness=Completeness.USAGE_INCOMPLETE if incomplete else Completeness.COMPLETE,
        reason=incomplete,
        missing={bucket: missing for bucket, value in values.items() if value is None},
    )


def unavailable(reason: str) -> Usage:
    """No figure at all: the provider stated none."""
    return _nothing(Completeness.UNAVAILABLE, reason)


def cut(reason: str) -> Usage:
    """No figure, since the answer could not be read to its end."""
    return _nothing(Completeness.USAGE_INCOMPLETE, reason)


def _nothing(completeness: Completeness, reason: str) -> Usage:
    return Usage(
        **dict.fromkeys((bucket.value for bucket in Bucket), None),
        provider_total=None,
        completeness=completeness,
        reason=reason,
        missing=dict.fromkeys(Bucket, reason),
    )


def split_input(prompt: int | None, cached: int | None, written: int | None) -> dict[Bucket, int | None]:
    """The input buckets of a prompt count that includes what was cached.

    ``written`` is what the prompt put into a cache, of a lifetime that is not stated; None where the API has no such
    thing, and then the prompt leaves no room for it.

    Raises:
        ValueError: the parts are larger than the prompt.
    """
    if prompt is None:
        return {}
    rest = prompt - (cached or 0) - (written or 0)
    if rest < 0:
        raise ValueError(f"{cached or 0} cached and {written or 0} written tokens are not inside a prompt of {prompt}")
    return {
        Bucket.INPUT: rest,
        Bucket.CACHE_READ: cached,
        Bucket.CACHE_WRITE_5M: written or 0,
        Bucket.CACHE_WRITE_1H: None if written else 0,
    }


def split_output(answer: int | None, reasoning: int | None, beside: int | None) -> dict[Bucket, int | None]:
    """The output buckets. ``beside`` is what the total leaves for the answer: it decides if reasoning is inside.

    Raises:
        ValueError: reasoning is larger than the answer that is to contain it.
    """
    if answer is None:
        return {Bucket.REASONING: reasoning}
    if reasoning is None:
        return {Bucket.OUTPUT: answer}
    if beside is not None and beside == answer + reasoning:
        return {Bucket.OUTPUT: answer, Bucket.REASONING: reasoning}
    if reasoning > answer:
        raise ValueError(f"{reasoning} reasoning tokens are not inside an answer of {answer}")
    return {Bucket.OUTPUT: answer - reasoning, Bucket.REASONING: reasoning}


def openai_usage(raw: Mapping[str, Any], prompt_name: str, answer_name: str, *, incomplete: str = "") -> Usage:
    """OpenAI's two APIs, which differ in names only: details are inside their sums unless the total says otherwise."""
    prompt, answer = count(raw.get(prompt_name)), count(raw.get(answer_name))
    total = count(raw.get("total_tokens"))
    details = member(raw, f"{prompt_name}_details")
    written = next(
        (found for name in ("cache_write_tokens", "cache_creation_tokens") if (found := count(details.get(name)))), None
    )
    reasoning = count(member(raw, f"{answer_name}_details").get("reasoning_tokens"))
    beside = None if total is None or prompt is None else total - prompt
    try:
        counts = split_input(prompt, count(details.get("cached_tokens")), written)
        counts |= split_output(answer, reasoning, beside)
    except ValueError as error:
        return usage({Bucket.INPUT: prompt, Bucket.OUTPUT: answer}, total=total, incomplete=str(error))
    return usage(counts, total=total, incomplete=incomplete)


def used(line: TraceLine) -> Usage | None:
    """What a billed exchange used; None where the provider turned it away, or was never reached."""
    if line.denial is not None:
        return None
    if line.answer is not None and (line.status is None or line.status < 400):
        return line.answer.usage
    if line.fault is None or line.fault not in LOST:
        return None
    known = line.answer is not None and line.answer.usage.stated
    return line.answer.usage if line.answer and known else cut(f"the answer was lost ({line.fault.value})")


def identity(line: TraceLine) -> str:
    """What two exchanges have in common that are one: the answer's id and the request's body.

    The id alone does not do: Ollama draws it from 999 numbers.
    """
    named = line.answer.request_id if line.answer is not None else None
    return f"{named} of {line.sent.digest}" if named and line.sent is not None else f"line {line.seq}"


def total(exchanges: Iterable[tuple[str, Usage]]) -> Usage:
    """The sum over exchanges, each under its request id: of two with one id the later is taken, not both.

    Exchanges that the provider turned away (a status of 400 and above) used nothing and do not belong here. With one
    that is not complete, the sum is at least that much and says so.
    """
    usages = list(dict(exchanges).values())
    stated = [one for one in usages if one.completeness is not Completeness.UNAVAILABLE]
    if not usages:
        return usage(dict.fromkeys(Bucket, 0))
    if not stated:
        return unavailable(f"none of {len(usages)} exchanges has a usage: {usages[0].reason}")
    open_ones = [one for one in usages if one.completeness is not Completeness.COMPLETE]
    incomplete = f"{len(open_ones)} of {len(usages)} exchanges: {open_ones[0].reason}" if open_ones else ""
    return usage(_sum(stated), total=_total(stated) if not open_ones else None, incomplete=incomplete)


def _sum(usages: list[Usage]) -> dict[Bucket, int | None]:
    """Bucket by bucket; one that not every usage sets apart is added to its container."""
    counts: dict[Bucket, int | None] = {
        bucket: sum(found) if (found := [n for one in usages if (n := one.of(bucket)) is not None]) else None
        for bucket in Bucket
    }
    for inner, outer in sorted(CONTAINER.items(), key=lambda pair: pair[0] is not Bucket.CACHE_WRITE_1H):
        if counts[inner] is not None and counts[outer] is not None and any(_hides(one, inner) for one in usages):
            counts[outer] = (counts[outer] or 0) + (counts[inner] or 0)
            counts[inner] = None
    return counts


def _hides(one: Usage, inner: Bucket) -> bool:
    """Whether a usage may have tokens of a bucket inside another one. One that states nothing hides nothing."""
    outer = CONTAINER.get(inner)
    return one.of(inner) is None and outer is not None and (one.of(outer) is not None or _hides(one, outer))


def _total(usages: list[Usage]) -> int | None:
    totals = [one.provider_total for one in usages if one.provider_total is not None]
    return sum(totals) if len(totals) == len(usages) else None
