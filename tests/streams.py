"""A `StreamingGenerator` whose answer a test decides."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from reciper_ray.generation import Prompt


@dataclass
class ScriptedStream:
    """Writes `text` three characters at a time, then raises `error` or hangs if it is told to.

    `left` says whether whoever asked left before the end.
    """

    text: str
    error: Exception | None = None
    hang: bool = False
    room: int = 10_000
    name: str = "vllm:m"
    gone: bool = False
    left: bool = False
    prompts: list[Prompt] = field(default_factory=list)

    def count(self, text: str) -> int:
        return len(text.split())

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        self.prompts.append(prompt)
        ended = False
        try:
            for start in range(0, len(self.text), 3):
                yield self.text[start : start + 3]
                await asyncio.sleep(0)
            if self.error:
                raise self.error
            if self.hang:
                await asyncio.Event().wait()
            ended = True
        finally:
            self.left = not ended
