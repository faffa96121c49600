"""An OpenAI-compatible API behind `reciper_ray.generation.Generator`: vLLM's server and others.

Prompts are under way side by side. A call that fails in a way that may pass (no connection, a
timeout, 408, 429, 5xx, a reply that is no completion) is made again after a pause; others are
not. Tokens are estimated from characters, as tokenizers differ and are not at hand.
"""

import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests

from reciper_ray.config import EndpointConfig, SamplingConfig
from reciper_ray.errors import ConfigError
from reciper_ray.generation import Completion, Prompt, digest

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_LONGEST_PAUSE_S = 30.0
_CHECK_TIMEOUT_S = 10.0


class EndpointGenerator:
    """A `Generator` that asks `config.url`. Raises `ConfigError` naming the URL or the variable
    of the key if nothing can be asked there."""

    def __init__(self, config: EndpointConfig, sampling: SamplingConfig) -> None:
        self._config, self._sampling = config, sampling
        self._url = config.url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {_key(config)}"} if config.api_key_env else {}
        self.name = fingerprint(config, sampling)
        self.room = config.context - sampling.max_tokens
        self._check()

    def count(self, text: str) -> int:
        """Tokens of `text`, estimated high."""
        return math.ceil(len(text) / self._config.chars_per_token)

    def generate(self, prompts: Sequence[Prompt], attempt: int = 0) -> list[Completion]:
        """See `Generator`."""
        with ThreadPoolExecutor(self._config.concurrency) as pool:
            return list(pool.map(lambda prompt: self._complete(prompt, attempt), prompts))

    def _complete(self, prompt: Prompt, attempt: int) -> Completion:
        if self.count(prompt.system) + self.count(prompt.user) > self.room:
            return Completion(error="prompt longer than the context")
        body = self._body(prompt, attempt)
        error = ""
        for n in range(self._config.attempts):
            pause = self._config.backoff_s * 2**n
            try:
                reply = requests.post(
                    f"{self._url}/chat/completions",
                    json=body,
                    headers=self._headers,
                    timeout=self._config.timeout_s,
                )
            except requests.Timeout:
                error = "endpoint: timeout"
            except requests.RequestException as failure:
                error = f"endpoint: {type(failure).__name__}"
            else:
                if reply.status_code == requests.codes.ok:
                    completion = _completion(reply)
                    if completion:
                        return completion
                    error = "endpoint: no completion in the reply"
                else:
                    error = f"endpoint: status {reply.status_code}"
                    if reply.status_code not in _PASSING:
                        break
                    pause = max(pause, _retry_after(reply))
            if n + 1 < self._config.attempts:
                time.sleep(min(pause, _LONGEST_PAUSE_S))
        return Completion(error=error)

    def _body(self, prompt: Prompt, attempt: int) -> dict[str, Any]:
        sampling = self._sampling
        warm = max(sampling.temperature, sampling.retry_temperature)
        body: dict[str, Any] = {
            "model": self._config.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "max_tokens": sampling.max_tokens,
            "temperature": warm if attempt else sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed + attempt,
        }
        if self._config.structured == "json_schema":
            named = {"name": "answer", "schema": dict(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self._config.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _check(self) -> None:
        named = f"extract.openai.url = {self._config.url!r}"
        try:
            reply = requests.get(
                f"{self._url}/models", headers=self._headers, timeout=_CHECK_TIMEOUT_S
            )
        except requests.RequestException as error:
            raise ConfigError(f"{named} does not answer: {type(error).__name__}") from error
        if reply.status_code in _REFUSED:
            raise ConfigError(f"{named} refuses the key (extract.openai.api_key_env)")


def fingerprint(config: EndpointConfig, sampling: SamplingConfig) -> str:
    """What two endpoints must share to count as the same model: its name and the options; not
    the URL, since the same model may be served elsewhere."""
    options = (config.structured, config.context, config.chars_per_token, sampling)
    return f"openai:{config.model}:{digest(*options)}"


def _key(config: EndpointConfig) -> str:
    if key := os.environ.get(config.api_key_env):
        return key
    raise ConfigError(f"extract.openai.api_key_env = {config.api_key_env!r}: no such variable set")


def _completion(reply: requests.Response) -> Completion | None:
    """The completion in a reply, None if there is none."""
    try:
        body = reply.json()
        message = body["choices"][0]["message"]
        text = message["content"]
        usage = body.get("usage") or {}
        prompt_tokens = int(usage.get("prompt_tokens") or 0)
        tokens = int(usage.get("completion_tokens") or 0)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None
    return Completion(text, prompt_tokens, tokens) if isinstance(text, str) and text else None


def _retry_after(reply: requests.Response) -> float:
    """The pause in seconds that a reply asks for, 0 without one or where it is a date."""
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "")))
    except ValueError:
        return 0.0
