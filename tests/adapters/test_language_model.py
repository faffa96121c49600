"""A language model's files are checked before anything starts."""

import json
import struct
from pathlib import Path

import pytest

from reciper_ray.adapters import extractor, language_model
from reciper_ray.config import Config, ExtractConfig, SamplingConfig, VllmConfig, parse
from reciper_ray.errors import ConfigError, MissingExtra


def folder(path: Path) -> Path:
    """The least that makes a model's folder: one tensor of four bytes."""
    path.mkdir()
    (path / "config.json").write_text('{"model_type": "llama"}')
    (path / "tokenizer.json").write_text("{}")
    header = json.dumps({"t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    data = struct.pack("<Q", len(header)) + header + b"\0\0\0\0"
    (path / "model.safetensors").write_bytes(data)
    return path


def prepared(path: Path | str) -> str:
    config = ExtractConfig(backend="vllm", vllm=VllmConfig(model=str(path)))
    return extractor.prepare(config, lambda line: None)


def test_a_whole_folder_has_a_name_that_its_weights_and_the_sampling_decide(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    name = prepared(path)
    assert name == prepared(path)
    warm = ExtractConfig(
        backend="vllm",
        vllm=VllmConfig(model=str(path)),
        sampling=SamplingConfig(temperature=0.5),
    )
    assert extractor.prepare(warm, lambda line: None) != name
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    assert prepared(path) != name


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"extract\.vllm\.model = '.*/none': no such folder"):
        prepared(tmp_path / "none")
    with pytest.raises(ConfigError, match="'llama': no such folder, nor a hub's owner/name"):
        prepared("llama")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", None, "it has no config.json"),
        ("config.json", b"{", "its config.json cannot be read"),
        ("tokenizer.json", None, "it has no tokenizer"),
        ("model.safetensors", None, "it has no weights"),
        ("model.safetensors", b"", "model.safetensors is no safetensors file"),
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1", "is no safetensors"),
    ],
)
def test_a_broken_folder_says_what_is_wrong_with_it(
    tmp_path: Path, file: str, content: bytes | None, said: str
) -> None:
    path = folder(tmp_path / "m")
    if content is None:
        (path / file).unlink()
    else:
        (path / file).write_bytes(content)
    with pytest.raises(ConfigError, match=said):
        prepared(path)


def test_a_download_that_was_cut_off_is_noticed(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    weights = path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-2])
    with pytest.raises(ConfigError, match=r"is cut off: \d+ of \d+ bytes"):
        prepared(path)


def test_the_packaged_model_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"reciper-ray\[vllm-cpu\]"):
        language_model.resolve(VllmConfig(), lambda line: None, tmp_path)


def test_the_default_model_is_small_on_a_cpu_and_the_papers_on_a_gpu() -> None:
    assert VllmConfig().name == "smollm2"
    assert VllmConfig(device="gpu").name == "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"
    assert VllmConfig(device="gpu", model="a/b").name == "a/b"


@pytest.mark.parametrize(
    ("extract", "said"),
    [
        ({"backend": "openai"}, "needs openai.url and openai.model"),
        ({"backend": "vllm", "sampling": {"max_tokens": 8192}}, "leaves nothing of a context"),
        ({"backend": "gpt"}, "extract.backend = 'gpt'"),
        ({"vllm": {"tensor_paralel_size": 2}}, "tensor_paralel_size"),
    ],
)
def test_a_wrong_configuration_is_named(extract: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse({"extract": extract})


def test_the_default_writes_recipes_without_a_model() -> None:
    name = extractor.prepare(Config().extract, lambda line: None)
    assert name == extractor.load(Config().extract).name
    assert name.startswith("extractive")
