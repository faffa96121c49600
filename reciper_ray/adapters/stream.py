"""vLLM's asynchronous engine behind `reciper_ray.generation.StreamingGenerator`.

Prompts are answered side by side, each as it is written; one whose caller leaves is taken out of
the engine. An engine that dies fails what it had and is started again in the background, up to
`restarts` times; what is asked meanwhile fails at once.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from itertools import count
from typing import TYPE_CHECKING

from reciper_ray.adapters import engine
from reciper_ray.adapters.language_model import resolve
from reciper_ray.config import AnswerConfig
from reciper_ray.errors import ReciperError, Unavailable
from reciper_ray.generation import Places, Prompt

if TYPE_CHECKING:
    from vllm.v1.engine.async_llm import AsyncLLM

_SECTION = "answer"


class VllmStream:
    """A running engine. Raises `ConfigError` naming the model if it does not start."""

    def __init__(self, config: AnswerConfig) -> None:
        self._config, self._vllm = config, config.vllm
        self._path = resolve(self._vllm, lambda line: None, section=_SECTION)
        self.name = engine.name(self._vllm, config.sampling, self._path)
        self.room = self._vllm.max_model_len - config.sampling.max_tokens
        self._restarts = self._vllm.restarts
        self._numbers = count()
        self._places = Places(config.max_queue)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._engine: AsyncLLM | None = None
        self._closed = False
        self._start()

    @property
    def gone(self) -> bool:
        """Whether the engine has died too often to be started again."""
        return self._engine is None and self._restarts < 0

    @property
    def unfinished(self) -> int:
        """How many prompts the engine is answering or has waiting."""
        return self._engine.get_num_unfinished_requests() if self._engine else 0

    def count(self, text: str) -> int:
        """Tokens of `text` without special tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """See `StreamingGenerator`; belongs to the event loop of the first call."""
        from vllm.sampling_params import RequestOutputKind
        from vllm.v1.engine.exceptions import EngineDeadError

        running = self._engine
        if running is None:
            raise Unavailable("engine: being restarted")
        self._loop = asyncio.get_running_loop()
        ids = engine.token_ids(self._tokenizer, prompt)
        if len(ids) > self.room:
            raise Unavailable("prompt longer than the context")
        parameters = engine.parameters(self._config.sampling, prompt)
        parameters.output_kind = RequestOutputKind.DELTA
        with self._places.taken():
            outputs = running.generate(
                {"prompt_token_ids": ids}, parameters, request_id=str(next(self._numbers))
            )
            try:
                async with aclosing(outputs):
                    async for output in outputs:
                        if text := output.outputs[0].text:
                            yield text
            except EngineDeadError:
                raise Unavailable("engine: died") from None
            except Exception as error:
                raise Unavailable(f"engine: {type(error).__name__}") from error

    def close(self) -> None:
        """Stops the engine's processes."""
        self._closed = True
        running, self._engine = self._engine, None
        if running is not None:
            # One that is dead already may fail to stop.
            with suppress(Exception):
                running.shutdown()
            # It shuts down once more when it is collected, which may be when half of the
            # interpreter is gone.
            running.shutdown = _nothing
        self._processes.close()

    def _start(self) -> None:
        engine.prepare(self._vllm, _SECTION)
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self._processes = engine.Processes()
        with engine.starting(self._vllm, _SECTION):
            options = engine.options(self._vllm, self._config.sampling, self._path)
            started = AsyncLLM.from_engine_args(AsyncEngineArgs(**options))
        self._tokenizer = started.get_tokenizer()
        self._engine = started
        self._processes.watch(self._died)

    def _died(self) -> None:
        """Tells whoever waits for the dead engine, and starts another one."""
        from vllm.v1.engine.exceptions import EngineDeadError

        dead, self._engine = self._engine, None
        if self._closed or dead is None:
            return
        if self._loop:
            self._loop.call_soon_threadsafe(
                dead.output_processor.propagate_error, EngineDeadError()
            )
        self._restarts -= 1
        if self._restarts >= 0:
            threading.Thread(target=self._restart, args=(dead,), daemon=True).start()

    def _restart(self, dead: "AsyncLLM") -> None:
        with suppress(Exception):
            dead.shutdown()
        dead.shutdown = _nothing
        self._processes.close()
        try:
            self._start()
        except ReciperError:
            self._restarts = -1


def _nothing(timeout: float | None = None) -> None:
    pass
