"""Text generation as the rest of the system sees it: prompts in, one completion each out."""

import hashlib
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from reciper_ray.errors import Overloaded

# What would end the data, or read as a mark of the chat's own: `</paper>`, `<|im_end|>`, `[INST]`.
_MARK = re.compile(r"<(?=[|｜/!A-Za-z])|\[(?=/?INST\])")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One turn: what the model is told to do, what it is given, and the form of its answer: a JSON
    schema, or a regular expression that all of it matches.

    The form is kept as far as the model's backend can.
    """

    system: str
    user: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and what it took in tokens; or, with text "", the `error` in words that
    are the same for all failures of a kind."""

    text: str = ""
    prompt_tokens: int = 0
    tokens: int = 0
    error: str = ""


def digest(*parts: object) -> str:
    """A short name for options, the same in every process for what prints the same."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def harmless(text: str) -> str:
    """`text` without anything that a chat template or a prompt's own marks could mean."""
    return _MARK.sub(lambda mark: mark[0] + " ", text)


class Places:
    """Who may write at once: at most `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Holds a place. Raises `Overloaded` if there is none."""
        if self._taken >= self._most:
            raise Overloaded(f"{self._most} answers are being written (answer.max_queue)")
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1


class Generator(Protocol):
    """A language model.

    `name` is its fingerprint: what is the same under one name need not be generated again.
    `room` is how many tokens a whole prompt may have.
    """

    @property
    def name(self) -> str: ...

    @property
    def room(self) -> int: ...

    def count(self, text: str) -> int:
        """How many tokens `text` has, at most."""
        ...

    def generate(self, prompts: Sequence[Prompt], attempt: int = 0) -> list[Completion]:
        """One completion a prompt, in order.

        What fails for one prompt is that completion's `error`. `attempt` > 0 asks for another
        answer than before. Raises `ReciperError` if nothing can be generated at all.
        """
        ...


class StreamingGenerator(Protocol):
    """A language model that many ask at a time; `name` and `room` as a `Generator`'s.

    `gone` says that it will never answer again.
    """

    @property
    def name(self) -> str: ...

    @property
    def room(self) -> int: ...

    @property
    def gone(self) -> bool: ...

    def count(self, text: str) -> int:
        """How many tokens `text` has, at most."""
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """The answer in pieces, as it is written. Closing the generator ends the writing.

        Raises `Overloaded` if too many are asking, and `Unavailable` with a reason that is the
        same for all failures of a kind.
        """
        ...
