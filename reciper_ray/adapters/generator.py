"""vLLM's engine behind `reciper_ray.generation.Generator`; the same code on CPU and GPU.

An engine that dies is started again and the prompts that it had are generated anew; a prompt that
kills it alone fails alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reciper_ray.adapters import engine
from reciper_ray.adapters.engine import name as name
from reciper_ray.adapters.language_model import resolve
from reciper_ray.config import SamplingConfig, VllmConfig
from reciper_ray.errors import Unavailable
from reciper_ray.generation import Completion, Prompt

if TYPE_CHECKING:
    from vllm import LLM, SamplingParams

_SECTION = "extract"


@dataclass(frozen=True, slots=True)
class _Job:
    """A prompt as the engine takes it."""

    tokens: list[int]
    parameters: "SamplingParams"


class VllmGenerator:
    """A running engine. Raises `ConfigError` naming the model if it does not start."""

    def __init__(self, config: VllmConfig, sampling: SamplingConfig) -> None:
        self._config, self._sampling = config, sampling
        self._path = resolve(config, lambda line: None, section=_SECTION)
        self.name = name(config, sampling, self._path)
        self.room = config.max_model_len - sampling.max_tokens
        self._restarts = config.restarts
        self._engine: LLM | None = None
        self._start()

    def count(self, text: str) -> int:
        """Tokens of `text` without special tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def generate(self, prompts: Sequence[Prompt], attempt: int = 0) -> list[Completion]:
        """See `Generator`. Raises `Unavailable` if the engine dies more often than allowed."""
        tokens = [engine.token_ids(self._tokenizer, prompt) for prompt in prompts]
        completions = [
            Completion(error="prompt longer than the context", prompt_tokens=len(ids))
            for ids in tokens
        ]
        fitting = [n for n, ids in enumerate(tokens) if len(ids) <= self.room]
        jobs = [
            _Job(tokens[n], engine.parameters(self._sampling, prompts[n], attempt)) for n in fitting
        ]
        for n, completion in zip(fitting, self._run(jobs), strict=True):
            completions[n] = completion
        return completions

    def close(self) -> None:
        """Stops the engine's process."""
        running, self._engine = self._engine, None
        if running is not None:
            # One that is dead already may fail to stop.
            with suppress(Exception):
                running.llm_engine.engine_core.shutdown()
            self._processes.close()

    def _run(self, jobs: list[_Job]) -> list[Completion]:
        """Completions of `jobs`; those at hand when the engine dies are done again, first
        together and then one by one."""
        from vllm.v1.engine.exceptions import EngineDeadError

        if not jobs:
            return []
        try:
            return self._together(jobs)
        except EngineDeadError:
            self._restart()
        except Exception as error:
            if len(jobs) == 1:
                return [Completion(error=f"engine: {type(error).__name__}")]
            return [c for job in jobs for c in self._run([job])]
        try:
            return self._together(jobs)
        except EngineDeadError:
            self._restart()
        if len(jobs) == 1:
            return [Completion(error="engine: died of it")]
        return [c for job in jobs for c in self._run([job])]

    def _together(self, jobs: list[_Job]) -> list[Completion]:
        if self._engine is None:
            self._start()
        assert self._engine is not None
        outputs = self._engine.generate(
            [{"prompt_token_ids": job.tokens} for job in jobs],
            [job.parameters for job in jobs],
            use_tqdm=False,
        )
        return [
            Completion(
                text=output.outputs[0].text,
                prompt_tokens=len(output.prompt_token_ids or ()),
                tokens=len(output.outputs[0].token_ids),
            )
            for output in outputs
        ]

    def _restart(self) -> None:
        self.close()
        if not self._restarts:
            raise Unavailable(
                f"vLLM's engine of {self._config.name!r} died more than"
                f" {self._config.restarts} times (extract.vllm.restarts)"
            )
        self._restarts -= 1
        self._start()

    def _start(self) -> None:
        engine.prepare(self._config, _SECTION)
        from vllm import LLM
        from vllm.v1.engine.exceptions import EngineDeadError

        self._processes = engine.Processes()
        with engine.starting(self._config, _SECTION):
            started = LLM(**engine.options(self._config, self._sampling, self._path))
        self._engine, self._tokenizer = started, started.get_tokenizer()
        outputs = started.llm_engine.engine_core.outputs_queue
        self._processes.watch(lambda: outputs.put(EngineDeadError()))
