"""A turn's tokens as each format words them, and what can be known of them from that: the provider's truth.

Anthropic keeps the cache outside its input and thinking inside its output. OpenAI's two formats keep all parts inside
their sums, and have one figure for cache writes. Gemini keeps thoughts outside the candidates and has no figure for
writes, which are prompt like any other there.
"""

from __future__ import annotations

from typing import Any, assert_never

from harness.gateway.records import Api, Bucket, Completeness, Usage
from harness.gateway.scripted.script import Tokens
from harness.gateway.usage import UNSTATED

_STATED = ("promptTokenCount", "totalTokenCount")


def worded(api: Api, tokens: Tokens) -> dict[str, Any]:
    """The usage object of an answer."""
    match api:
        case Api.ANTHROPIC:
            return {
                "input_tokens": tokens.input,
                "cache_creation_input_tokens": tokens.cache_write_5m + tokens.cache_write_1h,
                "cache_read_input_tokens": tokens.cache_read,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": tokens.cache_write_5m,
                    "ephemeral_1h_input_tokens": tokens.cache_write_1h,
                },
                "output_tokens": tokens.output + tokens.reasoning,
                "service_tier": "standard",
            }
        case Api.RESPONSES:
            return _openai("input_tokens", "output_tokens", tokens)
        case Api.CHAT:
            return _openai("prompt_tokens", "completion_tokens", tokens)
        case Api.GEMINI:
            stated = {
                "promptTokenCount": tokens.prompt,
                "cachedContentTokenCount": tokens.cache_read,
                "candidatesTokenCount": tokens.output,
                "thoughtsTokenCount": tokens.reasoning,
                "totalTokenCount": tokens.prompt + tokens.output + tokens.reasoning,
            }
            # JSON of protocol buffers has no zeros; an answer without any prompt there is none.
            return {name: value for name, value in stated.items() if value or name in _STATED}
        case never:
            assert_never(never)


def _openai(prompt: str, answer: str, tokens: Tokens) -> dict[str, Any]:
    written = tokens.cache_write_5m + tokens.cache_write_1h
    details = {"cached_tokens": tokens.cache_read} | ({"cache_write_tokens": written} if written else {})
    return {
        prompt: tokens.prompt,
        f"{prompt}_details": details,
        answer: tokens.output + tokens.reasoning,
        f"{answer}_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.prompt + tokens.output + tokens.reasoning,
    }


def truth(api: Api, tokens: Tokens) -> Usage:
    """The buckets that a reader of the format can know, each token in exactly one."""
    counts: dict[Bucket, int | None] = {bucket: tokens.of(bucket) for bucket in Bucket}
    total: int | None = tokens.prompt + tokens.output + tokens.reasoning
    match api:
        case Api.ANTHROPIC:
            counts |= {Bucket.OUTPUT: tokens.output + tokens.reasoning, Bucket.REASONING: None}
            total = None
        case Api.RESPONSES | Api.CHAT:
            written = tokens.cache_write_5m + tokens.cache_write_1h
            counts |= {Bucket.CACHE_WRITE_5M: written, Bucket.CACHE_WRITE_1H: None if written else 0}
        case Api.GEMINI:
            counts |= {Bucket.INPUT: tokens.prompt - tokens.cache_read}
            counts |= {Bucket.CACHE_WRITE_5M: 0, Bucket.CACHE_WRITE_1H: 0}
        case never:
            assert_never(never)
    return Usage(
        **{bucket.value: value for bucket, value in counts.items()},
        provider_total=total,
        completeness=Completeness.COMPLETE,
        missing={bucket: UNSTATED for bucket, value in counts.items() if value is None},
    )
