"""What a snapshot consists of, as pure data with a JSON form.

The snapshot's id is a hash of its content alone (file hashes and whatever decides how they are
used), so two builds of the same input have the same id; when, where from and after which
parent it was made is kept beside it. Reading and writing the files is not covered.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from reciper_ray.errors import CorruptSnapshot
from reciper_ray.types import View

FORMAT_VERSION = 1


class Role(StrEnum):
    """What a file of a snapshot holds."""

    INDEX = "index"
    PASSAGES = "passages"
    PAPERS = "papers"
    LEXICON = "lexicon"
    QUARANTINE = "quarantine"
    COPIES = "copies"


@dataclass(frozen=True, slots=True)
class File:
    """An immutable file: `path` below the store's root, `size` in bytes, `rows` it holds.

    `view` and `shard` are None where the role has none.
    """

    path: str
    size: int
    sha256: str
    role: Role
    rows: int
    view: View | None = None
    shard: int | None = None


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """The encoder whose vectors the index files hold; `model` is its name in the configuration."""

    model: str
    fingerprint: str
    dimension: int


@dataclass(frozen=True, slots=True)
class ViewInfo:
    """Size of one view: passages, the papers they are of, and their lexical tokens."""

    passages: int = 0
    papers: int = 0
    tokens: int = 0

    def __add__(self, other: "ViewInfo") -> "ViewInfo":
        """The size of two parts that share no paper."""
        return ViewInfo(
            self.passages + other.passages,
            self.papers + other.papers,
            self.tokens + other.tokens,
        )

    @property
    def mean_length(self) -> float:
        """Tokens per passage, 0.0 for an empty view."""
        return self.tokens / self.passages if self.passages else 0.0


@dataclass(frozen=True, slots=True)
class Manifest:
    """A published set of shards.

    `tokenizer` versions the lexical tokens, `quarantined` counts rejections by reason, `parent`
    is the snapshot that was current before ("" for the first). `created` (ISO 8601, UTC),
    `corpus` and `builder` say when, from what and by which version it was made, `work` under
    which settings: a build under the same takes over the work on papers that did not change.
    """

    encoder: EncoderInfo
    tokenizer: str
    extractor: str
    index: str
    shards: int
    papers: int
    recipes: int
    views: Mapping[View, ViewInfo]
    quarantined: Mapping[str, int]
    files: tuple[File, ...]
    parent: str = ""
    created: str = ""
    corpus: str = ""
    builder: str = ""
    work: str = ""

    _METADATA: ClassVar[tuple[str, ...]] = ("parent", "created", "corpus", "builder", "work")

    @property
    def snapshot_id(self) -> str:
        """16 hex digits of the SHA-256 of everything but how the snapshot came about."""
        content = _adapter.dump_python(self, mode="json", exclude=set(self._METADATA))
        content["encoder"].pop("model")
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(f"{FORMAT_VERSION}{canonical}".encode()).hexdigest()[:16]

    @property
    def copies(self) -> int:
        """Papers that are not indexed because another one is the same."""
        return sum(file.rows for file in self.files if file.role is Role.COPIES)

    def file(self, role: Role, view: View | None = None, shard: int | None = None) -> File:
        """The one file of that role, view and shard. Raises `CorruptSnapshot` if there is none."""
        for file in self.files:
            if (file.role, file.view, file.shard) == (role, view, shard):
                return file
        what = " ".join(str(part) for part in (view, role) if part)
        where = "" if shard is None else f" of shard {shard}"
        raise CorruptSnapshot(f"snapshot {self.snapshot_id} lists no {what} file{where}")

    def to_json(self) -> bytes:
        """The manifest file."""
        head: dict[str, Any] = {"format_version": FORMAT_VERSION, "snapshot_id": self.snapshot_id}
        data = head | _adapter.dump_python(self, mode="json")
        return json.dumps(data, indent=1, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Manifest":
        """The manifest in `data`, called `name` in errors.

        Raises `CorruptSnapshot` for a newer format, for data that is no manifest, and for one
        whose id does not match its content.
        """
        try:
            raw = json.loads(data)
        except ValueError as error:
            raise CorruptSnapshot(f"{name} is not JSON: {error}") from error
        version = raw.get("format_version") if isinstance(raw, dict) else None
        if not isinstance(version, int):
            raise CorruptSnapshot(f"{name} is no manifest: it has no format_version")
        if version > FORMAT_VERSION:
            raise CorruptSnapshot(
                f"{name} has format_version {version}; this version of reciper-ray reads up to "
                f"{FORMAT_VERSION}"
            )
        try:
            manifest = _adapter.validate_python(raw)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise CorruptSnapshot(f"{name}: {where}: {problem['msg']}") from error
        if raw.get("snapshot_id") != manifest.snapshot_id:
            raise CorruptSnapshot(
                f"{name} says snapshot_id {raw.get('snapshot_id')!r}, "
                f"but its content is that of {manifest.snapshot_id}"
            )
        return manifest


_adapter = TypeAdapter(Manifest)


def shard_of(paper_id: str, shards: int) -> int:
    """The shard, in 0..shards-1, that holds all passages of a paper in every build."""
    digest = hashlib.blake2b(paper_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % shards
