"""The answerer that the configuration names: a check before anything starts, and itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from reciper_ray.config import AnswerConfig
from reciper_ray.llm_answer import LlmAnswerer

_SECTION = "answer"


def prepare(config: AnswerConfig, progress: Callable[[str], None]) -> None:
    """Checks what the answerer will load, before any work starts.

    Loads no weights, but converts the packaged model once. Raises `ConfigError` naming a model's
    folder or an endpoint that will not do, and `MissingExtra`.
    """
    match config.backend:
        case "extractive":
            pass
        case "vllm":
            from reciper_ray.adapters.engine import missing
            from reciper_ray.adapters.language_model import resolve

            if find_spec("vllm") is None:
                raise missing(config.vllm, _SECTION)
            resolve(config.vllm, progress, section=_SECTION)
        case "openai":
            from reciper_ray.adapters.endpoint import check

            check(config.openai, _SECTION)


@contextmanager
def loaded(config: AnswerConfig) -> Iterator[LlmAnswerer | None]:
    """The answerer, ready; for `vllm` with an engine that runs until the block ends. None for the
    extractive one.

    Raises what `prepare` raises.
    """
    match config.backend:
        case "extractive":
            yield None
        case "vllm":
            from reciper_ray.adapters.stream import VllmStream

            engine = VllmStream(config)
            try:
                yield LlmAnswerer(engine, config, reasoning=bool(config.vllm.reasoning_parser))
            finally:
                engine.close()
        case "openai":
            from reciper_ray.adapters.endpoint_stream import EndpointStream

            yield LlmAnswerer(EndpointStream(config), config)
