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

# Statuses that may pass.
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({401, 403})
_SECTION = "extract"
_LONGEST_PAUSE_S = 30.0
_CHECK_TIMEOUT_S = 10.0


class EndpointGenerator:
    """A `Generator` that asks `config.url`. Raises `ConfigError` naming the URL or the variable
    of the key if nothing can be asked there."""

    def __init__(self, config: EndpointConfig, sampling: SamplingConfig) -> None:
        self._config, self._sampling = config, sampling
        self._url = config.url.rstrip("/")
        self._headers = headers(config, _SECTION)
        self.name = fingerprint(config, sampling)
        self.room = config.context - sampling.max_tokens
        check(config, _SECTION)

    def count(self, text: str) -> int:
        """Tokens of `text`, estimated high."""
        return estimate(self._config, text)

    def generate(self, prompts: Sequence[Prompt], attempt: int = 0) -> list[Completion]:
        """See `Generator`."""
        with ThreadPoolExecutor(self._config.concurrency) as pool:
            return list(pool.map(lambda prompt: self._complete(prompt, attempt), prompts))

    def _complete(self, prompt: Prompt, attempt: int) -> Completion:
        if self.count(prompt.system) + self.count(prompt.user) > self.room:
            return Completion(error="prompt longer than the context")
        payload = body(self._config, self._sampling, prompt, attempt)
        error = ""
        for n in range(self._config.attempts):
            pause = self._config.backoff_s * 2**n
            try:
                reply = requests.post(
                    f"{self._url}/chat/completions",
                    json=payload,
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
                    if reply.status_code not in PASSING:
                        break
                    pause = max(pause, _retry_after(reply))
            if n + 1 < self._config.attempts:
                time.sleep(min(pause, _LONGEST_PAUSE_S))
        return Completion(error=error)


def fingerprint(config: EndpointConfig, sampling: SamplingConfig) -> str:
    """What two endpoints must share to count as the same model: its name and the options; not
    the URL, since the same model may be served elsewhere."""
    options = (config.structured, config.context, config.chars_per_token, sampling)
    return f"openai:{config.model}:{digest(*options)}"


def estimate(config: EndpointConfig, text: str) -> int:
    """How many tokens `text` has, estimated high."""
    return math.ceil(len(text) / config.chars_per_token)


def body(
    config: EndpointConfig, sampling: SamplingConfig, prompt: Prompt, attempt: int = 0
) -> dict[str, Any]:
    """What is sent for `prompt`, to be answered differently for each `attempt`."""
    warm = max(sampling.temperature, sampling.retry_temperature)
    sent: dict[str, Any] = {
        "model": config.model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "max_tokens": sampling.max_tokens,
        "temperature": warm if attempt else sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed + attempt,
    }
    if prompt.schema and config.structured == "json_schema":
        named = {"name": "answer", "schema": dict(prompt.schema)}
        sent["response_format"] = {"type": "json_schema", "json_schema": named}
    elif prompt.schema and config.structured == "json_object":
        sent["response_format"] = {"type": "json_object"}
    return sent


def headers(config: EndpointConfig, section: str) -> dict[str, str]:
    """What authorizes a call. Raises `ConfigError` naming a variable that is not set."""
    if not config.api_key_env:
        return {}
    if key := os.environ.get(config.api_key_env):
        return {"Authorization": f"Bearer {key}"}
    raise ConfigError(
        f"{section}.openai.api_key_env = {config.api_key_env!r}: no such variable set"
    )


def check(config: EndpointConfig, section: str) -> None:
    """Raises `ConfigError` naming the URL, as `section` of the configuration has it, if nothing can
    be asked there."""
    named = f"{section}.openai.url = {config.url!r}"
    authorized = headers(config, section)
    try:
        reply = requests.get(
            f"{config.url.rstrip('/')}/models", headers=authorized, timeout=_CHECK_TIMEOUT_S
        )
    except requests.RequestException as error:
        raise ConfigError(f"{named} does not answer: {type(error).__name__}") from error
    if reply.status_code in _REFUSED:
        raise ConfigError(f"{named} refuses the key ({section}.openai.api_key_env)")


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
