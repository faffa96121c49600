"""An OpenAI-compatible API behind `reciper_ray.generation.StreamingGenerator`.

A call that fails in a way that may pass is made again after a pause, as long as nothing of its
answer has come. Leaving a stream closes its connection, upon which the server stops writing.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus

import aiohttp

from reciper_ray.adapters.endpoint import PASSING, body, check, estimate, fingerprint, headers
from reciper_ray.config import AnswerConfig
from reciper_ray.errors import Unavailable
from reciper_ray.generation import Places, Prompt

_SECTION = "answer"
_LONGEST_PAUSE_S = 10.0
_LONGEST_LINE = 1 << 20


class EndpointStream:
    """Asks `config.openai.url`. Raises `ConfigError` naming the URL or the variable of the key if
    nothing can be asked there."""

    def __init__(self, config: AnswerConfig) -> None:
        self._config, self._endpoint = config, config.openai
        self._headers = headers(self._endpoint, _SECTION)
        self._url = f"{self._endpoint.url.rstrip('/')}/chat/completions"
        self.name = fingerprint(self._endpoint, config.sampling)
        self.room = self._endpoint.context - config.sampling.max_tokens
        self._places = Places(config.max_queue)
        check(self._endpoint, _SECTION)

    @property
    def gone(self) -> bool:
        """Never: another call may find the endpoint again."""
        return False

    def count(self, text: str) -> int:
        """Tokens of `text`, estimated high."""
        return estimate(self._endpoint, text)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """See `StreamingGenerator`."""
        with self._places.taken():
            for attempt in range(self._endpoint.attempts):
                begun = False
                try:
                    async with aclosing(self._ask(prompt)) as pieces:
                        async for piece in pieces:
                            begun = True
                            yield piece
                    return
                except _Passing as failure:
                    if begun or attempt + 1 == self._endpoint.attempts:
                        raise Unavailable(str(failure)) from failure
                    pause = max(self._endpoint.backoff_s * 2**attempt, failure.pause_s)
                    await asyncio.sleep(min(pause, _LONGEST_PAUSE_S))

    async def _ask(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """One call. Raises `_Passing`, or `Unavailable` for what would fail again."""
        payload = body(self._endpoint, self._config.sampling, prompt) | {"stream": True}
        limit = aiohttp.ClientTimeout(total=self._endpoint.timeout_s)
        try:
            async with (
                aiohttp.ClientSession(headers=self._headers, timeout=limit) as session,
                session.post(self._url, json=payload) as reply,
            ):
                if reply.status in PASSING:
                    raise _Passing(f"endpoint: status {reply.status}", _retry_after(reply))
                if reply.status != HTTPStatus.OK:
                    raise Unavailable(f"endpoint: status {reply.status}")
                async for text in _texts(reply.content):
                    yield text
        except TimeoutError:
            raise _Passing("endpoint: timeout") from None
        except aiohttp.ClientError as error:
            raise _Passing(f"endpoint: {type(error).__name__}") from error


class _Passing(Exception):
    """A failure that may pass, after `pause_s` at the earliest."""

    def __init__(self, reason: str, pause_s: float = 0.0) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


async def _texts(content: aiohttp.StreamReader) -> AsyncIterator[str]:
    """The pieces in a stream of server-sent events; raises `_Passing` if it is none."""
    found = ended = False
    async for line in _lines(content):
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            ended = True
            break
        if not line.startswith(b"data:") or not data:
            continue
        try:
            choice = json.loads(data)["choices"][0]
            text = choice["delta"].get("content")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise _Passing("endpoint: no completion in the reply") from None
        ended |= bool(choice.get("finish_reason"))
        if isinstance(text, str) and text:
            found = True
            yield text
    if not found or not ended:
        raise _Passing("endpoint: no completion in the reply")


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    waiting = b""
    async for chunk in content.iter_any():
        *lines, waiting = (waiting + chunk).split(b"\n")
        for line in lines:
            yield line
        if len(waiting) > _LONGEST_LINE:
            raise _Passing("endpoint: no completion in the reply")
    if waiting:
        yield waiting


def _retry_after(reply: aiohttp.ClientResponse) -> float:
    """The pause in seconds that a reply asks for, 0 without one or where it is a date."""
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "")))
    except ValueError:
        return 0.0
