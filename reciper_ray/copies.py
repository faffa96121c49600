"""Which papers of a corpus are the same one: preprint and journal version, PDF and XML.

Two papers are copies when their texts are nearly identical, or when DOI, arXiv id or title agree
and the texts do not deny it. An article and its supplement share a DOI and are none. MinHash is
datasketch's. The authors' benchmark files are left as they are. What a build does with copies is
in `reciper_ray.build.settle`.
"""

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote

from reciper_ray.types import Paper

NEAR = 0.6
"""Share of common five-word sequences from which texts are nearly identical. In 159 papers with
seven true pairs, those had 0.77 and more, all others 0.08 and less."""
_ALIKE = 0.1
_PERMUTATIONS = 128
_SEED = 1
_SCHEME: Literal["affine32"] = "affine32"
_WORDS = 5
_FEWEST = 50
_TITLE_CHARS = 30
_TITLE_SHARE = 0.5
_HEAD = 200
_WORD = re.compile(r"\w+")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(\S+)")
_VERSION = re.compile(r"v\d+$")
# arXiv, ChemRxiv, bioRxiv, Preprints.org, Research Square, SSRN, TechRxiv, OSF
_PREPRINTS: tuple[str, ...] = (
    *("10.48550/", "10.26434/", "10.1101/", "10.20944/", "10.21203/", "10.2139/ssrn"),
    *("10.36227/", "10.31219/"),
)
_SUPPLEMENT = re.compile(
    r"\W*(?:electronic )?(?:supplement(?:ary|al)?|supporting)\b"
    r"(?: (?:online )?(?:information|materials?|data|notes?|figures?|methods?|text|file))",
    re.IGNORECASE,
)
_SUPPLEMENT_FILE = re.compile(
    r"(?:^|[._\s-])(?:si|esm|suppl?\w*|supporting\w*|mmc\d+|\w*moesm\d+\w*)(?:[._\s-]|$)",
    re.IGNORECASE,
)
# Structured before extracted, and what still has sections before what has lost them.
_FORMATS = ("jats", "elsevier", "uspto", "html", "tei", "s2orc", "records", "markdown", "plain")
_BENCHMARK = "rag_database"


@dataclass(frozen=True, slots=True)
class Traits:
    """What is compared of a paper. `signature` is empty where the text is too short for one."""

    source: str
    format: str
    title: str
    doi: str
    arxiv_id: str
    chars: int
    supplement: bool
    signature: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """A paper that is not indexed because `kept_id` is the same one, and why that is known;
    `digest` is of its content."""

    paper_id: str
    source: str
    kept_id: str
    kept_source: str
    reason: str
    digest: str = ""


def traits(paper: Paper) -> Traits:
    """The traits of one paper; DOI, arXiv id and title in a spelling of their own."""
    doi = _doi(paper.doi)
    arxiv = _ARXIV_DOI.fullmatch(doi)
    name = PurePosixPath(paper.source.partition("#")[0]).stem
    return Traits(
        source=paper.source,
        format=paper.format,
        title=_squashed(paper.title),
        doi=doi,
        arxiv_id=_VERSION.sub("", (paper.arxiv_id or (arxiv[1] if arxiv else "")).casefold()),
        chars=len(paper.text),
        supplement=any(
            _SUPPLEMENT.match(start) is not None for start in (paper.title, paper.text[:_HEAD])
        )
        or _SUPPLEMENT_FILE.search(name) is not None,
        signature=() if paper.format == _BENCHMARK else _signature(paper.text),
    )


def _doi(written: str) -> str:
    """`https://doi.org/10.1%2FX.` and `doi:10.1/x` as `10.1/x`."""
    found = _DOI.search(unquote(written).casefold())
    return found[0].rstrip(".,;:)") if found else ""


def _squashed(title: str) -> str:
    """The words of `title` in lower case without accents, parted by single spaces."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    return " ".join(_WORD.findall("".join(c for c in plain if not unicodedata.combining(c))))


def _signature(text: str) -> tuple[int, ...]:
    from datasketch import MinHash

    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    sequences = {" ".join(words[at : at + _WORDS]) for at in range(len(words) - _WORDS + 1)}
    if len(sequences) < _FEWEST:
        return ()
    minhash = MinHash(_PERMUTATIONS, _SEED, hashfunc=zlib.crc32, scheme=_SCHEME)
    minhash.update_batch([sequence.encode() for sequence in sequences])
    return tuple(map(int, minhash.hashvalues))


def clusters(papers: Sequence[Traits]) -> Mapping[int, tuple[int, str]]:
    """Position of each copy → position of the paper kept instead, and why they are the same.

    The result does not depend on the order of `papers`. Journal before preprint, structured
    before extracted, then the longer text is kept.
    """
    pairs = _pairs(papers)
    root = list(range(len(papers)))

    def find(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    joined: dict[frozenset[int], str] = {}
    for one, other in pairs:
        reason = _same(papers[one], papers[other])
        if reason:
            joined[frozenset((one, other))] = reason
            root[find(one)] = find(other)
    members = defaultdict(list)
    for at in range(len(papers)):
        members[find(at)].append(at)
    found: dict[int, tuple[int, str]] = {}
    for group in members.values():
        kept, *others = sorted(group, key=lambda at: _merit(papers[at]))
        for at in others:
            near = joined.get(frozenset((kept, at)))
            found[at] = (kept, near or _indirect(at, joined, papers))
    return found


def _indirect(at: int, joined: Mapping[frozenset[int], str], papers: Sequence[Traits]) -> str:
    """Why a paper is in its cluster when it is not directly like the one kept."""
    links = sorted(
        (papers[other].source, reason)
        for pair, reason in joined.items()
        if at in pair
        for other in pair - {at}
    )
    return f"{links[0][1]} as {links[0][0]}"


def _merit(paper: Traits) -> tuple[bool, int, int, str]:
    preprint = paper.doi.startswith(_PREPRINTS) or (bool(paper.arxiv_id) and not paper.doi)
    rank = _FORMATS.index(paper.format) if paper.format in _FORMATS else len(_FORMATS)
    return preprint, rank, -paper.chars, paper.source


def _pairs(papers: Sequence[Traits]) -> list[tuple[int, int]]:
    """Pairs of positions that may be the same paper, in the order of their sources."""
    order = sorted(
        (at for at, paper in enumerate(papers) if paper.format != _BENCHMARK),
        key=lambda at: papers[at].source,
    )
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at in order:
        paper = papers[at]
        for kind, key in (("doi", paper.doi), ("arxiv", paper.arxiv_id), ("title", paper.title)):
            if key and (kind != "title" or len(key) >= _TITLE_CHARS):
                groups[kind, key].append(at)
    pairs = {
        (one, other)
        for group in groups.values()
        for number, one in enumerate(group)
        for other in group[number + 1 :]
    }
    pairs.update(_near(papers, order))
    place = {at: number for number, at in enumerate(order)}
    return sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))


def _near(papers: Sequence[Traits], order: Iterable[int]) -> set[tuple[int, int]]:
    """Pairs whose signatures are likely alike."""
    import numpy as np
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=NEAR - 0.1, num_perm=_PERMUTATIONS)
    pairs = set()
    for at in order:
        if papers[at].signature:
            values = np.array(papers[at].signature, np.uint32)
            minhash = MinHash(_PERMUTATIONS, _SEED, hashvalues=values, scheme=_SCHEME)
            pairs |= {(other, at) for other in index.query(minhash)}
            index.insert(at, minhash)
    return pairs


def _same(one: Traits, other: Traits) -> str:
    """Why both are the same paper, "" if they are not or it is not certain."""
    if one.supplement != other.supplement:
        return ""
    said = ""
    if one.doi and one.doi == other.doi:
        said = f"same DOI {one.doi}"
    elif one.arxiv_id and one.arxiv_id == other.arxiv_id:
        said = f"same arXiv id {one.arxiv_id}"
    elif one.title == other.title and len(one.title) >= _TITLE_CHARS:
        said = "same title"
    if one.signature and other.signature:
        alike = _share(one.signature, other.signature)
        if alike >= NEAR:
            return said or f"near-identical text ({alike:.2f})"
        return said if alike >= _ALIKE else ""
    return said if said and _titles_alike(one.title, other.title) else ""


def _share(one: Sequence[int], other: Sequence[int]) -> float:
    """The estimated Jaccard similarity of two signatures, in 0..1."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def _titles_alike(one: str, other: str) -> bool:
    words = set(one.split()), set(other.split())
    return len(words[0] & words[1]) >= _TITLE_SHARE * max(map(len, words))
