"""Text generation as the rest of the system sees it: prompts in, one completion each out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Prompt:
    """One turn: what the model is told to do, and what it is given."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and what it took in tokens; or, with text "", the `error` in words that
    are the same for all failures of a kind."""

    text: str = ""
    prompt_tokens: int = 0
    tokens: int = 0
    error: str = ""


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

    def generate(
        self, prompts: Sequence[Prompt], schema: Mapping[str, Any], attempt: int = 0
    ) -> list[Completion]:
        """One completion a prompt, in order, each JSON of `schema` as far as the model can.

        What fails for one prompt is that completion's `error`. `attempt` > 0 asks for another
        answer than before. Raises `ReciperError` if nothing can be generated at all.
        """
        ...
