"""Configuration of language models: how they run or are reached, and how they pick their words.

The sections that hold these, and the reading of files, are `reciper_ray.config`'s.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A group of keys that refuses what it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SamplingConfig(Section):
    """How a language model picks its words; `max_tokens` bounds what it writes, thinking included.

    What is tried again after bad output is at least `retry_temperature` warm.
    """

    max_tokens: Positive = 1024
    temperature: Annotated[float, Field(ge=0.0)] = 0.0
    retry_temperature: Annotated[float, Field(ge=0.0)] = 0.6
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    repetition_penalty: Annotated[float, Field(gt=0.0)] = 1.0
    seed: int = 0


_HALVES = ("bfloat16", "float16")
# What vLLM's quantization methods compute in, and those without CPU kernels.
_QUANTIZED_DTYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("awq", "auto_awq", "awq_marlin", "gptq", "auto_gptq", "gptq_marlin"), _HALVES),
    **dict.fromkeys(("fp8", "experts_int8", "moe_wna16"), _HALVES),
    "mxfp4": ("bfloat16",),
}
_GPU_QUANTIZATION = frozenset(
    ("fp8", "awq_marlin", "gptq_marlin", "experts_int8", "moe_wna16", "mxfp4")
)


class VllmConfig(Section):
    """A language model in a vLLM engine of ours, one an actor.

    `model` is a folder, a hub name, or `smollm2`, the SmolLM2-135M-Instruct that the `vllm-cpu`
    extra installs; "" is `smollm2` on CPU and the paper's DeepSeek-R1-Distill-Qwen-32B on GPU.
    `reasoning_parser` is vLLM's name of the format in which a model thinks before the JSON, "" for
    models that do not. `gpu_memory` is the share of each GPU an engine takes; `kv_cache_gib` the
    memory of its cache on CPU. `actors` 0 means as many engines as the cluster has room for.
    """

    model: str = ""
    revision: str = ""
    device: Literal["cpu", "gpu"] = "cpu"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    quantization: str = ""
    tensor_parallel_size: Positive = 1
    max_model_len: Positive = 8192
    max_num_seqs: Positive = 16
    reasoning_parser: str = ""
    gpu_memory: Annotated[float, Field(gt=0.0, le=1.0)] = 0.9
    kv_cache_gib: Annotated[float, Field(gt=0.0)] = 1.0
    restarts: Annotated[int, Field(ge=0)] = 2
    actors: Annotated[int, Field(ge=0)] = 0
    num_cpus: Annotated[float, Field(gt=0)] = 1.0

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.quantization in _QUANTIZED_DTYPES:
            known = _QUANTIZED_DTYPES[self.quantization]
            if self.dtype not in ("auto", *known):
                raise ValueError(
                    f"dtype = {self.dtype!r} does not go with quantization ="
                    f" {self.quantization!r}, which computes in {' or '.join(known)}"
                )
        if self.device == "cpu" and self.quantization in _GPU_QUANTIZATION:
            raise ValueError(f"quantization = {self.quantization!r} needs device = 'gpu'")
        if self.device == "cpu" and self.tensor_parallel_size > 1:
            raise ValueError(
                f"tensor_parallel_size = {self.tensor_parallel_size} needs device = 'gpu'; on CPU"
                " an engine takes more num_cpus"
            )
        return self

    @property
    def name(self) -> str:
        """The model, with what "" stands for."""
        default = "smollm2" if self.device == "cpu" else "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"
        return self.model or default


class EndpointConfig(Section):
    """A language model behind an OpenAI-compatible API, such as a vLLM server.

    `url` ends before `/chat/completions`. With `api_key_env` set, that variable's value is sent as
    the key. `context` is the model's, in tokens, counted as `chars_per_token` characters each.
    Calls that fail in a way that may pass are made up to `attempts` times, `backoff_s` apart at
    first and twice as long each time.
    """

    url: str = ""
    model: str = ""
    api_key_env: str = ""
    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    context: Positive = 8192
    chars_per_token: Annotated[float, Field(gt=0.0)] = 2.5
    concurrency: Positive = 8
    timeout_s: Annotated[float, Field(gt=0.0)] = 120.0
    attempts: Positive = 4
    backoff_s: Annotated[float, Field(gt=0.0)] = 1.0
    actors: Positive = 1


def check_model(
    backend: str, sampling: SamplingConfig, vllm: VllmConfig, openai: EndpointConfig
) -> None:
    """Raises `ValueError` if a section names a `backend` without what it needs."""
    if backend == "openai" and not (openai.url and openai.model):
        raise ValueError("backend = 'openai' needs openai.url and openai.model")
    context = vllm.max_model_len if backend == "vllm" else openai.context
    if backend != "extractive" and sampling.max_tokens >= context:
        raise ValueError(
            f"sampling.max_tokens = {sampling.max_tokens} leaves nothing of a context of"
            f" {context} tokens for what the model reads"
        )
