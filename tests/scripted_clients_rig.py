"""Conversations with a provider through the providers' own clients."""

from __future__ import annotations

import json
import ssl

import anthropic
import openai
from google import genai
from google.genai import types

from harness.gateway.records import Api
from tests import scripted_rig as rig
from tests.scripted_rig import MODEL

_UNUSED_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Clients load the system's certificates when they are made, which is most of their time: nothing here has any."""


def anthropic_client(url, key, retries=0):
    """Anthropic's client."""
    http = anthropic.DefaultHttpxClient(verify=_UNUSED_TLS)
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=retries, http_client=http)


def openai_client(url, key, retries=0):
    """OpenAI's client."""
    http = openai.DefaultHttpxClient(verify=_UNUSED_TLS)
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=retries, http_client=http)


def gemini_client(url, key):
    """Google's client."""
    args = {"verify": _UNUSED_TLS}
    options = types.HttpOptions(
        base_url=url, retry_options=types.HttpRetryOptions(attempts=1), client_args=args, async_client_args=args
    )
    return genai.Client(api_key=key, http_options=options)


class Client:
    """A conversation with one client. ``ask`` gives the text, the calls, and the usage as the client tells it."""

    def __init__(self, url, key, *, stream):
        self.stream = stream
        self.thoughts = ""
        self.start(url, key)

    def drive(self):
        """Run the tools, each with an error for its result, until the answer calls none."""
        seen = []
        while True:
            text, calls, usage = self.ask()
            seen.append((text, calls, usage))
            if not calls:
                return seen
            self.answer(calls)


class Anthropic(Client):
    api = Api.ANTHROPIC

    def start(self, url, key):
        self.client = anthropic_client(url, key)
        self.messages = [{"role": "user", "content": "do it"}]
        self.tools = [{"name": one["name"], "input_schema": one["schema"]} for one in (rig.BASH, rig.WRITE)]

    def ask(self):
        how = {"model": MODEL, "max_tokens": 2000, "messages": self.messages, "tools": self.tools}
        how["thinking"] = {"type": "enabled", "budget_tokens": 1024}
        if self.stream:
            with self.client.messages.stream(**how) as stream:
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**how)
        self.messages.append({"role": "assistant", "content": message.content})
        self.thoughts += "".join(one.thinking for one in message.content if one.type == "thinking")
        calls = [(one.id, one.name, one.input) for one in message.content if one.type == "tool_use"]
        assert message.stop_reason == ("tool_use" if calls else "end_turn")
        usage = message.usage
        prompt = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens
        return "".join(one.text for one in message.content if one.type == "text"), calls, (prompt, usage.output_tokens)

    def answer(self, calls):
        results = [{"type": "tool_result", "tool_use_id": one[0], "content": "no", "is_error": True} for one in calls]
        self.messages.append({"role": "user", "content": results})


class Responses(Client):
    api = Api.RESPONSES

    def start(self, url, key):
        self.client = openai_client(url, key)
        self.items = [{"role": "user", "content": "do it"}]
        self.tools = [
            {"type": "function", "name": one["name"], "parameters": one["schema"], "strict": False}
            for one in (rig.BASH, rig.WRITE)
        ]

    def ask(self):
        how = {"model": MODEL, "input": self.items, "tools": self.tools, "reasoning": {"summary": "auto"}}
        if self.stream:
            with self.client.responses.stream(**how) as stream:
                numbers = [one.sequence_number for one in stream]
                assert numbers == list(range(len(numbers)))
                response = stream.get_final_response()
        else:
            response = self.client.responses.create(**how)
        self.items += [one.to_dict() for one in response.output]
        self.thoughts += "".join(one.summary[0].text for one in response.output if one.type == "reasoning")
        calls = [(o.call_id, o.name, json.loads(o.arguments)) for o in response.output if o.type == "function_call"]
        return response.output_text, calls, (response.usage.input_tokens, response.usage.output_tokens)

    def answer(self, calls):
        self.items += [{"type": "function_call_output", "call_id": one[0], "output": "no"} for one in calls]


class Chat(Client):
    api = Api.CHAT

    def start(self, url, key):
        self.client = openai_client(url, key)
        self.messages = [{"role": "user", "content": "do it"}]
        functions = [{"name": one["name"], "parameters": one["schema"]} for one in (rig.BASH, rig.WRITE)]
        self.tools = [{"type": "function", "function": one} for one in functions]

    def ask(self):
        how = {"model": MODEL, "messages": self.messages, "tools": self.tools}
        if self.stream:
            with self.client.chat.completions.stream(**how, stream_options={"include_usage": True}) as stream:
                done = stream.get_final_completion()
        else:
            done = self.client.chat.completions.create(**how)
        message = done.choices[0].message
        self.messages.append(message.to_dict())
        self.thoughts += getattr(message, "reasoning_content", None) or ""
        calls = [(one.id, one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or ()]
        assert done.choices[0].finish_reason == ("tool_calls" if calls else "stop")
        return message.content or "", calls, (done.usage.prompt_tokens, done.usage.completion_tokens)

    def answer(self, calls):
        self.messages += [{"role": "tool", "tool_call_id": one[0], "content": "no"} for one in calls]


class Gemini(Client):
    api = Api.GEMINI

    def start(self, url, key):
        self.client = gemini_client(url, key)
        self.contents = [types.Content(role="user", parts=[types.Part(text="do it")])]
        named = [{"name": one["name"], "parameters_json_schema": one["schema"]} for one in (rig.BASH, rig.WRITE)]
        self.config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=named)], thinking_config={"include_thoughts": True}
        )

    def ask(self):
        how = {"model": MODEL, "contents": self.contents, "config": self.config}
        if self.stream:
            chunks = list(self.client.models.generate_content_stream(**how))
        else:
            chunks = [self.client.models.generate_content(**how)]
        parts = [part for one in chunks for part in one.candidates[0].content.parts or ()]
        self.contents.append(types.Content(role="model", parts=parts))
        self.thoughts += "".join(one.text for one in parts if one.thought)
        found = [one.function_call for one in parts if one.function_call]
        calls = [(one.id, one.name, dict(one.args)) for one in found]
        usage = chunks[-1].usage_metadata
        answer = usage.candidates_token_count + (usage.thoughts_token_count or 0)
        text = "".join(one.text for one in parts if one.text and not one.thought)
        return text, calls, (usage.prompt_token_count, answer)

    def answer(self, calls):
        # As its command line does where an answer had no ids: the name alone tells which call is meant.
        results = [types.Part.from_function_response(name=one[1], response={"error": "no"}) for one in calls]
        self.contents.append(types.Content(role="user", parts=results))


CLIENTS = [Anthropic, Responses, Chat, Gemini]
