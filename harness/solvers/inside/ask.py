"""ask.py BASE_URL API MODEL EFFORT: asks a model what is on standard input, and prints what it says.

Exit status 0 with the reply on standard output; 1 with a line on standard error that says why there is none.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sys
import time
import urllib.parse
from typing import Any

TRIES = 4
MAX_TOKENS = 32000
BUSY = (408, 409, 429, 500, 502, 503, 504, 529)


def request(api: str, model: str, effort: str, prompt: str, key: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Path, headers and body of a question."""
    bearer = {"Authorization": "Bearer " + key}
    body: dict[str, Any]
    if api == "anthropic":
        body = {"model": model, "max_tokens": MAX_TOKENS, "messages": [{"role": "user", "content": prompt}]}
        if effort:
            body["output_config"] = {"effort": effort}
        return "/v1/messages", {"x-api-key": key, "anthropic-version": "2023-06-01"}, body
    if api == "responses":
        body = {"model": model, "input": prompt, "store": False}
        if effort:
            body["reasoning"] = {"effort": effort}
        return "/v1/responses", bearer, body
    if api == "chat":
        body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        if effort:
            body["reasoning_effort"] = effort
        return "/v1/chat/completions", bearer, body
    if api == "gemini":
        body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
        if effort:
            body["generationConfig"] = {"thinkingConfig": {"thinkingLevel": effort}}
        path = "/v1beta/models/" + urllib.parse.quote(model, safe="") + ":generateContent"
        return path, {"x-goog-api-key": key}, body
    raise ValueError("no such format: " + api)


def text(api: str, answer: Any) -> str:
    """What the model says, all its text together."""
    if api == "anthropic":
        return "".join(part.get("text", "") for part in answer["content"] if part.get("type") == "text")
    if api == "responses":
        parts = [part for item in answer["output"] if item.get("type") == "message" for part in item["content"]]
        return "".join(part.get("text", "") for part in parts if part.get("type") == "output_text")
    if api == "chat":
        said = answer["choices"][0]["message"].get("content") or ""
        return said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
    parts = answer["candidates"][0]["content"]["parts"]
    return "".join(part.get("text", "") for part in parts if not part.get("thought"))


def ask(base: str, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any, bytes]:
    """Status, headers and body of an answer."""
    where = urllib.parse.urlsplit(base)
    link = http.client.HTTPConnection(where.hostname or "", where.port)
    try:
        data = json.dumps(body).encode()
        link.request("POST", path, data, {"Content-Type": "application/json", **headers})
        answer = link.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        link.close()


def main(base: str, api: str, model: str, effort: str) -> int:
    """Ask, and print the reply."""
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    path, headers, body = request(api, model, effort, prompt, os.environ["WORKER_KEY"])
    said, wait = "nothing", 0.0
    for attempt in range(TRIES):
        time.sleep(wait)
        wait = 2.0**attempt
        try:
            status, told, data = ask(base, path, headers, body)
        except (OSError, http.client.HTTPException) as error:
            said = type(error).__name__
            continue
        if status == 200:
            try:
                sys.stdout.write(text(api, json.loads(data)))
                return 0
            except (ValueError, LookupError, TypeError, AttributeError):
                said = "an answer that holds no text"
                break
        said = "status {}: {}".format(status, data[:300].decode("utf-8", "replace"))
        if status not in BUSY:
            break
        with contextlib.suppress(ValueError):
            wait = min(60.0, float(told.get("retry-after", wait)))
    print("worker: the model gave no reply: " + said, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
