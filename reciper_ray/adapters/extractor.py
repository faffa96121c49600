"""The extractor that the configuration names: its fingerprint without loading it, and itself."""

from collections.abc import Callable

from reciper_ray.config import ExtractConfig
from reciper_ray.recipe import ExtractiveExtractor, Extractor
from reciper_ray.recipe.llm import LlmExtractor, fingerprint


def prepare(config: ExtractConfig, progress: Callable[[str], None]) -> str:
    """Checks what the extractor will load, before any work starts, and returns its name.

    Loads no weights, but converts the packaged model once. Raises `ConfigError` naming a model's
    folder or an endpoint that will not do, and `MissingExtra`.
    """
    match config.backend:
        case "extractive":
            return ExtractiveExtractor.name
        case "vllm":
            from reciper_ray.adapters.generator import name
            from reciper_ray.adapters.language_model import resolve

            generator = name(config.vllm, config.sampling, resolve(config.vllm, progress))
        case "openai":
            from reciper_ray.adapters.endpoint import EndpointGenerator

            generator = EndpointGenerator(config.openai, config.sampling).name
    return fingerprint(generator, *_options(config))


def load(config: ExtractConfig) -> Extractor:
    """The extractor, ready; for `vllm` with a running engine.

    Raises what `prepare` raises.
    """
    match config.backend:
        case "extractive":
            return ExtractiveExtractor()
        case "vllm":
            from reciper_ray.adapters.generator import VllmGenerator

            engine = VllmGenerator(config.vllm, config.sampling)
            return LlmExtractor(engine, *_options(config))
        case "openai":
            from reciper_ray.adapters.endpoint import EndpointGenerator

            endpoint = EndpointGenerator(config.openai, config.sampling)
            return LlmExtractor(endpoint, *_options(config))


def _options(config: ExtractConfig) -> tuple[int, int, int, bool]:
    return config.part_tokens, config.max_parts, config.retries, config.constrain
