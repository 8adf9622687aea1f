"""What an agent says of its own tokens and cost: the last word of its log, or of what it printed.

It is shown beside the gateway's figures and used in no other. Each agent counts in its own way: the buckets here are
those that it sets apart, and what it leaves unsaid is left out, never 0. Pure functions of bytes that an agent wrote,
and so may be anything; nothing here raises for what they hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from harness.digest import MAX_SAFE_INTEGER
from harness.evidence import SelfReported
from harness.gateway.records import Bucket
from harness.solvers.agent import TranscriptKind
from harness.trajectories.values import added, count, decimal, dollars, get, lines, loads, objects, text, total

NOTHING = "its log states neither tokens nor a cost"
_NO_COST = "it states no cost"
_ROUNDED = "rounded by the agent"
_COUNT, _MONEY = r"([\d.,]{1,15}[kM]?)", r"\$([\d.]{1,12})"
_AIDER = re.compile(
    rf"> Tokens: {_COUNT} sent,(?: {_COUNT} cache write,)?(?: {_COUNT} cache hit,)? {_COUNT} received\."
    rf"(?: Cost: {_MONEY} message, {_MONEY} session\.)?\s*"
)

Tokens = dict[Bucket, int]


def account(kind: TranscriptKind, transcript: bytes, stdout: bytes) -> SelfReported:
    """The agent's account. Either text may be empty."""
    tokens, money, remark = _READERS[kind](transcript, stdout)
    tokens = {bucket: tokens[bucket] for bucket in Bucket if tokens.get(bucket, -1) >= 0}
    if sum(tokens.values()) > MAX_SAFE_INTEGER:
        tokens, remark = {}, "its counts are absurd"
    if not tokens and money is None:
        return SelfReported(tokens={}, usd=None, reason=remark or NOTHING)
    said = [remark, "" if tokens else "it states no tokens", _NO_COST if money is None else ""]
    return SelfReported(tokens=tokens, usd=money, reason="; ".join(filter(None, said)))


Read = tuple[Tokens, str | None, str]
"""Tokens by bucket, dollars in decimal, and a remark."""


def _claude(transcript: bytes, stdout: bytes) -> Read:
    """The session's last ``cost-state``, else the printed result; of a session that was cut, its messages' sum."""
    said: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    for line in filter(None, lines(transcript)):
        if line.get("type") == "cost-state":
            said = line
        elif line.get("type") == "assistant" and (name := text(get(line, "message", "id"))):
            messages[name] = get(line, "message", "usage")  # what has grown comes again
    for line in filter(None, lines(stdout) if not said else ()):
        if line.get("type") == "result":
            said = {"totalCostUSD": line.get("total_cost_usd"), "modelUsage": line.get("modelUsage")}
    models = get(said, "modelUsage")
    if isinstance(models, dict) and models:
        return _sum(map(_claude_model, models.values())), dollars(get(said, "totalCostUSD")), ""
    return _sum(map(_anthropic, messages.values())), None, ""


def _claude_model(one: Any) -> Tokens:
    long = count(get(one, "cacheCreationEphemeral1hInputTokens")) or 0
    written, answer = count(get(one, "cacheCreationInputTokens")), count(get(one, "outputTokens"))
    thought = count(get(one, "thinkingTokens")) or 0
    return _known(
        {
            Bucket.INPUT: count(get(one, "inputTokens")),
            Bucket.CACHE_READ: count(get(one, "cacheReadInputTokens")),
            Bucket.CACHE_WRITE_5M: _less(written, long),
            Bucket.CACHE_WRITE_1H: long or None,
            Bucket.OUTPUT: _less(answer, thought),
            Bucket.REASONING: thought or None,
        }
    )


def _anthropic(one: Any) -> Tokens:
    return _known(
        {
            Bucket.INPUT: count(get(one, "input_tokens")),
            Bucket.CACHE_READ: count(get(one, "cache_read_input_tokens")),
            Bucket.CACHE_WRITE_5M: count(get(one, "cache_creation_input_tokens")),
            Bucket.OUTPUT: count(get(one, "output_tokens")),
        }
    )


def _codex(transcript: bytes, stdout: bytes) -> Read:
    """The thread's last running total; without one, its answers' sum, else what was printed."""
    said: Any = None
    answers = []
    for line in filter(None, lines(transcript)):
        payload = line.get("payload")
        said = get(payload, "thread_token_usage") or get(payload, "info", "total_token_usage") or said
        answers += [get(payload, "usage")] if line.get("type") == "token_usage_record" else []
    if said is None and answers:
        return _sum(map(_openai, answers)), None, ""
    for line in filter(None, lines(stdout) if said is None else ()):
        said = line.get("usage") or said
    return _openai(said), None, ""


def _openai(said: Any) -> Tokens:
    prompt, cached = count(get(said, "input_tokens")), count(get(said, "cached_input_tokens"))
    written = count(get(said, "cache_write_input_tokens"))
    answer, thought = count(get(said, "output_tokens")), count(get(said, "reasoning_output_tokens"))
    return _parts(prompt, cached, written, answer, thought)


def _gemini(transcript: bytes, stdout: bytes) -> Read:
    """The printed sums, by model; without them, the chat's messages, side models left out."""
    models = get(loads(stdout), "stats", "models")
    if isinstance(models, dict) and models:
        return _sum(_google(get(one, "tokens"), "prompt", "candidates") for one in models.values()), None, ""
    whole = loads(transcript)
    messages: dict[str, Any] = {}
    for piece in [whole] if isinstance(whole, dict) else filter(None, lines(transcript)):
        for message in [piece, *objects(piece.get("messages")), *objects(get(piece, "$set", "messages"))]:
            if isinstance(message.get("tokens"), dict):
                messages[text(message.get("id")) or str(len(messages))] = message["tokens"]
    return _sum(_google(one, "input", "output") for one in messages.values()), None, ""


def _qwen(transcript: bytes, stdout: bytes) -> Read:
    """The printed sums, by model; without them, the chat's lines."""
    result = next((one for one in reversed(objects(loads(stdout))) if one.get("type") == "result"), None)
    models = get(result, "stats", "models")
    if isinstance(models, dict) and models:
        return _sum(_google(get(one, "tokens"), "prompt", "candidates") for one in models.values()), None, ""
    found = [line.get("usageMetadata") for line in filter(None, lines(transcript))]
    names = {"prompt": "promptTokenCount", "candidates": "candidatesTokenCount", "cached": "cachedContentTokenCount"}
    names |= {"thoughts": "thoughtsTokenCount", "total": "totalTokenCount"}
    each = [{short: get(one, name) for short, name in names.items()} for one in found if one is not None]
    return _sum(_google(one, "prompt", "candidates") for one in each), None, ""


def _google(one: Any, prompt_name: str, answer_name: str) -> Tokens:
    """Counts in Google's words; the total says whether thoughts are inside the answer."""
    prompt, answer = count(get(one, prompt_name)), count(get(one, answer_name))
    thought, used = count(get(one, "thoughts")), count(get(one, "tool"))
    inside = None not in {prompt, answer} and count(get(one, "total")) == total(prompt, answer, used)
    found = _parts(total(prompt, used) if prompt is not None else None, count(get(one, "cached")), None, answer, None)
    if thought is not None and answer is not None:
        rest = _less(answer, thought) if inside else answer
        found |= _known({Bucket.OUTPUT: rest, Bucket.REASONING: thought if rest is not None else None})
    return found


def _opencode(transcript: bytes, stdout: bytes) -> Read:
    """The sum of its steps."""
    steps = [
        line.get("part") for line in filter(None, lines(transcript or stdout)) if line.get("type") == "step_finish"
    ]
    found = _sum(
        _known({
            Bucket.INPUT: count(get(one, "tokens", "input")),
            Bucket.CACHE_READ: count(get(one, "tokens", "cache", "read")),
            Bucket.CACHE_WRITE_5M: count(get(one, "tokens", "cache", "write")),
            Bucket.OUTPUT: count(get(one, "tokens", "output")),
            Bucket.REASONING: count(get(one, "tokens", "reasoning")),
        })
        for one in steps
    )  # fmt: skip
    return found, added(get(one, "cost") for one in steps), ""


def _mini(transcript: bytes, _: bytes) -> Read:
    """The sum of its answers, and its own running cost."""
    whole = loads(transcript)
    usages = [get(one, "extra", "response", "usage") for one in objects(get(whole, "messages"))]
    found = _sum(
        _parts(
            count(get(one, "prompt_tokens")),
            count(get(one, "prompt_tokens_details", "cached_tokens")),
            count(get(one, "cache_creation_input_tokens")),
            count(get(one, "completion_tokens")),
            count(get(one, "completion_tokens_details", "reasoning_tokens")),
        )
        for one in usages
        if one is not None
    )
    own = dollars(get(whole, "info", "model_stats", "instance_cost"))
    each = [get(one, "extra", "cost") for one in objects(get(whole, "messages"))]
    return found, own or added(each), ""


def _aider(transcript: bytes, _: bytes) -> Read:
    """The lines that it reports after each answer; its counts are its own and rounded, its cost is of the session."""
    found: Counter[Bucket] = Counter()
    money = None
    for line in transcript.decode("utf-8", "replace").splitlines():
        match = _AIDER.fullmatch(line)
        if match is None:
            continue
        named = (Bucket.INPUT, Bucket.CACHE_WRITE_5M, Bucket.CACHE_READ, Bucket.OUTPUT)
        for bucket, said in zip(named, match.groups(), strict=False):
            found[bucket] += _rounded(said)
        money = decimal(match[6]) or money
    return {bucket: number for bucket, number in found.items() if number}, money, _ROUNDED if found else ""


_READERS: dict[TranscriptKind, Callable[[bytes, bytes], Read]] = {
    TranscriptKind.CLAUDE: _claude,
    TranscriptKind.CODEX: _codex,
    TranscriptKind.GEMINI: _gemini,
    TranscriptKind.OPENCODE: _opencode,
    TranscriptKind.QWEN: _qwen,
    TranscriptKind.MINI: _mini,
    TranscriptKind.AIDER: _aider,
}


def _parts(
    prompt: int | None, cached: int | None, written: int | None, answer: int | None, thought: int | None
) -> Tokens:
    """Disjoint buckets of sums that hold their parts; parts that do not fit stay inside."""
    fits = prompt is None or (cached or 0) + (written or 0) <= prompt
    found: dict[Bucket, int | None] = {Bucket.INPUT: prompt, Bucket.OUTPUT: answer}
    if fits and prompt is not None:
        found |= {Bucket.INPUT: prompt - (cached or 0) - (written or 0)}
        found |= {Bucket.CACHE_READ: cached, Bucket.CACHE_WRITE_5M: written}
    if thought is not None and answer is not None and thought <= answer:
        found |= {Bucket.OUTPUT: answer - thought, Bucket.REASONING: thought}
    return _known(found)


def _less(whole: int | None, part: int) -> int | None:
    return None if whole is None or whole < part else whole - part


def _known(counts: dict[Bucket, int | None]) -> Tokens:
    return {bucket: number for bucket, number in counts.items() if number is not None}


def _sum(many: Iterable[Tokens]) -> Tokens:
    found: Counter[Bucket] = Counter()
    for one in many:
        found.update(one)
    return dict(found)


def _rounded(said: str | None) -> int:
    """``3.4k`` as 3400."""
    number = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([kM]?)", (said or "").replace(",", ""))
    return int(Decimal(number[1]) * {"": 1, "k": 1000, "M": 1_000_000}[number[2]]) if number else 0
