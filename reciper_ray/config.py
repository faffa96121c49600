"""Configuration: one YAML file, every key checked, unknown keys refused by name.

The defaults are the laptop's. Nothing else in the package reads a configuration file.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from reciper_ray.errors import ConfigError
from reciper_ray.model_config import EndpointConfig as EndpointConfig
from reciper_ray.model_config import Positive, Section, check_model
from reciper_ray.model_config import SamplingConfig as SamplingConfig
from reciper_ray.model_config import VllmConfig as VllmConfig


class EncoderConfig(Section):
    """The model that turns text into unit vectors.

    `model` is a folder, a hub name, or `minilm`, the all-MiniLM-L6-v2 that the `cpu` extra
    installs. `max_tokens` bounds what one passage may hold, special tokens included. `dtype` is
    what passages are encoded in; `auto` is bfloat16 where the hardware has it.
    """

    model: str = "minilm"
    revision: str = ""
    device: str = "cpu"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    max_tokens: Positive = 256
    batch_size: Positive = 16
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: Positive = 1


class ChunkConfig(Section):
    """Passages end at `max_chars` characters or the encoder's `max_tokens`, whichever is first."""

    max_chars: Positive = 1000


class ExtractConfig(Section):
    """Who writes the recipes: sentences of the paper as they are, or a language model.

    A paper longer than a prompt is read in parts of at most `part_tokens` (0: as much as fits the
    context), the first `max_parts` of them (0: all). A part whose output cannot be read is tried
    `retries` times more. With `constrain` a model chooses among what the part states instead of
    writing freely; without, it may write key points too.
    """

    backend: Literal["extractive", "vllm", "openai"] = "extractive"
    part_tokens: Annotated[int, Field(ge=0)] = 0
    max_parts: Annotated[int, Field(ge=0)] = 0
    retries: Annotated[int, Field(ge=0)] = 1
    constrain: bool = True
    sampling: SamplingConfig = SamplingConfig()
    vllm: VllmConfig = VllmConfig()
    openai: EndpointConfig = EndpointConfig()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        check_model(self.backend, self.sampling, self.vllm, self.openai)
        return self


class AnswerConfig(Section):
    """Who writes the answers: sentences of the evidence as they are, or a language model.

    A model is shown at most `passages` of the evidence and writes at most `sentences`; with
    `constrain` it chooses sentences of the evidence instead of writing its own, which is as much as
    a small one can do. An endpoint cannot be constrained. A request that finds `max_queue` others
    under way at a model is refused. Of a request's time the last `reserve_ms` are kept for the
    extractive answer, should the model not have finished.
    """

    backend: Literal["extractive", "vllm", "openai"] = "extractive"
    passages: Positive = 8
    sentences: Positive = 3
    constrain: bool = True
    max_queue: Positive = 64
    reserve_ms: Positive = 1000
    sampling: SamplingConfig = SamplingConfig(max_tokens=512)
    vllm: VllmConfig = VllmConfig()
    openai: EndpointConfig = EndpointConfig()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        check_model(self.backend, self.sampling, self.vllm, self.openai)
        if self.vllm.actors:
            raise ValueError(
                f"vllm.actors = {self.vllm.actors} is a build's; how many engines write answers is"
                " serve.answerer.num_replicas"
            )
        return self


class BuildConfig(Section):
    """How a corpus is built. Papers are worked on in blocks of `block_papers`, in path order.

    `shards` is fixed for the life of a store. `actors` 0 means one embedding actor per
    `num_cpus` that the cluster has when the build starts.
    """

    shards: Positive = 4
    block_papers: Positive = 8
    actors: Annotated[int, Field(ge=0)] = 0
    num_cpus: Annotated[float, Field(ge=0)] = 1.0
    num_gpus: Annotated[float, Field(ge=0)] = 0.0


class IndexConfig(Section):
    """How vectors are searched; `flat` is exact."""

    kind: Literal["flat"] = "flat"
    device: Literal["cpu", "gpu"] = "cpu"


class HybridConfig(Section):
    """What `hybrid` adds up, and with which weights; 0 leaves a part out. A hit's parts have the
    names that the weights have here.

    A paper's score: its shares of the best paper as one lexical document (`paper_whole`), by its
    best passage's words (`paper_passage`) and cosine (`paper_dense`), by its recipe's
    (`paper_recipe`, `paper_recipe_dense`). `paper` is what the best paper's score adds to its
    passages. A passage's own: its share of the paper's best by words (`lexical`) and its cosine
    (`dense`), then its section, the quantities and recipe steps it holds, and each kind of value
    asked for that it lacks. Measured on the development questions; each may move by half without
    a visible loss.
    """

    paper: float = 5.0
    paper_whole: float = 1.0
    paper_passage: float = 1.0
    paper_dense: float = 0.5
    paper_recipe: float = 0.2
    paper_recipe_dense: float = 0.2
    lexical: float = 1.0
    dense: float = 0.6
    section: float = 0.2
    quantities: float = 0.3
    steps: float = 0.2
    asked: float = 0.1


class ScreenConfig(Section):
    """Which hits are dropped as too like a better one: those of the same view that share more than
    `threshold` (0..1) of all their words with it. None drops none."""

    threshold: Annotated[float, Field(ge=0.0, le=1.0)] | None = None


class SearchConfig(Section):
    """Ranking. `candidates` (the paper's K_c), `distance` and `rerank_weight` (its lambda) are the
    paper mode's, `hybrid` is that of hybrid; `screen` holds for every method."""

    candidates: Positive = 40
    distance: Literal["l2", "squared_l2", "cosine"] = "l2"
    rerank_weight: float = 0.1
    screen: ScreenConfig = ScreenConfig()
    hybrid: HybridConfig = HybridConfig()


class PartConfig(Section):
    """One part of the serving graph; `num_replicas` 0 runs it inside the router's process."""

    num_replicas: Annotated[int, Field(ge=0)] = 0
    max_replicas: Annotated[int, Field(ge=0)] = 0
    num_cpus: Annotated[float, Field(ge=0)] = 1.0
    num_gpus: Annotated[float, Field(ge=0)] = 0.0
    max_batch: Positive = 32

    @model_validator(mode="after")
    def _replicas_fit(self) -> Self:
        if self.max_replicas and not 1 <= self.num_replicas <= self.max_replicas:
            raise ValueError(
                f"max_replicas = {self.max_replicas} with num_replicas = {self.num_replicas}:"
                " autoscaling goes from num_replicas, at least 1, to max_replicas"
            )
        return self


class ShardsConfig(PartConfig):
    """Index shards; one deployment serves `shards_per_replica` logical shards of one view."""

    shards_per_replica: Positive = 4


class RouterConfig(PartConfig):
    """The gRPC ingress; it always has a replica of its own."""

    num_replicas: Positive = 1
    max_queue: Positive = 256
    threads: Positive = 2


class LimitsConfig(Section):
    """What a request may ask for."""

    k: Positive = 1000
    question_chars: Positive = 8000
    timeout_ms: Positive = 120_000
    default_timeout_ms: Positive = 30_000


class SwapConfig(Section):
    """How a serving graph follows its store: CURRENT is looked at every `poll_s` seconds (0:
    never, what is served stays), and an old snapshot is kept for `keep_s` after the swap, for
    replicas that are just starting."""

    poll_s: Annotated[float, Field(ge=0.0)] = 5.0
    keep_s: Annotated[float, Field(ge=0.0)] = 30.0


class ServeConfig(Section):
    """The serving graph. With `api_key_env` set, calls must carry that variable's value.

    `memory_gib` is what the shards in one replica may take, about (0: nine tenths of what the
    machine has free when they are loaded); a snapshot beyond it is refused before it is loaded.

    `start_attempts` is how often a deployment's replicas may fail to load before it is given up.
    HTTP listens at `http_host`, and with `haproxy` gRPC does, too; Serve's own gRPC proxy
    listens on every interface of the machine.
    """

    grpc_port: Annotated[int, Field(ge=1, le=65535)] = 9000
    http_host: str = "127.0.0.1"
    http_port: Annotated[int, Field(ge=1, le=65535)] = 8000
    haproxy: bool = False
    api_key_env: str = ""
    start_attempts: Positive = 1
    memory_gib: Annotated[float, Field(ge=0.0)] = 0.0
    swap: SwapConfig = SwapConfig()
    limits: LimitsConfig = LimitsConfig()
    router: RouterConfig = RouterConfig()
    embedder: PartConfig = PartConfig()
    shards: ShardsConfig = ShardsConfig()
    reranker: PartConfig = PartConfig()
    answerer: PartConfig = PartConfig()


class Config(Section):
    """Everything, by part."""

    encoder: EncoderConfig = EncoderConfig()
    chunk: ChunkConfig = ChunkConfig()
    extract: ExtractConfig = ExtractConfig()
    answer: AnswerConfig = AnswerConfig()
    build: BuildConfig = BuildConfig()
    index: IndexConfig = IndexConfig()
    search: SearchConfig = SearchConfig()
    serve: ServeConfig = ServeConfig()


def load(path: str | Path | None = None) -> Config:
    """The configuration in the YAML file `path`; the defaults for None.

    A Ray Serve configuration will do, too: then it is the `args` of its first application, and
    their `snapshot` is left to the caller.

    Raises `ConfigError` naming the file and, for each bad key, its full name, the value and why.
    """
    if path is None:
        return Config()
    try:
        data = yaml.safe_load(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"configuration {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"configuration {path} is not YAML: {error}") from error
    return parse(_args(data, str(path)), str(path))


def _args(data: object, name: str) -> object:
    """Of a Serve configuration the part that is ours."""
    if not isinstance(data, dict) or "applications" not in data:
        return data
    match data["applications"]:
        case [{"args": dict(args)}, *_]:
            return {key: value for key, value in args.items() if key != "snapshot"}
        case [{**application}, *_] if "args" not in application:
            return {}
    raise ConfigError(f"{name}: applications = {data['applications']!r}: the first has no args map")


def parse(data: object, name: str = "configuration") -> Config:
    """The configuration in plain `data` (None: the defaults); `name` is for errors."""
    try:
        return Config.model_validate({} if data is None else data)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'file'} = {e['input']!r}: {e['msg']}"
            for e in error.errors(include_url=False)
        )
        raise ConfigError(f"{name}: {problems}") from error
