"""The nouns of the system. Plain frozen data, importable from anywhere.

Offsets count Unicode code points of `Paper.text` (Python's `str` index), half-open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class View(StrEnum):
    """One of the two ways a paper is indexed."""

    PARAGRAPH = "paragraph"
    RECIPE = "recipe"


class Method(StrEnum):
    """How candidates are found and ranked; see `reciper_ray.search`."""

    HYBRID = "hybrid"
    RECIPER = "reciper"
    PARAGRAPH = "paragraph"
    RECIPE = "recipe"
    BM25 = "bm25"


class Kind(StrEnum):
    """What a paragraph of a paper is."""

    ABSTRACT = "abstract"
    TEXT = "text"
    CAPTION = "caption"
    TABLE = "table"


class Abstention(StrEnum):
    """Why a question is not answered."""

    NOTHING_RELEVANT = "nothing_relevant"
    NOT_REPORTED = "not_reported"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Span:
    """`start:end` of a paper's text."""

    start: int
    end: int

    def overlaps(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Original:
    """What the source's file has in the place of `start:end` of a normalised text, white space
    folded and markup removed."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as its source has it: where it stands in `Paper.text`, under which heading,
    and on which page it begins (from 1; None where the source has no pages).

    Each of `turns` is an offset in `Paper.text`, ascending, where the paragraph's next page
    begins; one that skips a page has its offset twice.
    """

    start: int
    end: int
    heading: str = ""
    kind: Kind = Kind.TEXT
    page: int | None = None
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """A source document, the unit of relevance.

    `text` is the normalised full text without the title; `paragraphs` are disjoint spans of it
    in reading order. `recipes` are recipe texts that the source itself brings (the authors'
    released corpus does). `source` is the path below the corpus root, with `#n` for the n-th
    record of a file of records. `originals` are the places where the file's own text differs,
    in order and disjoint.
    """

    paper_id: str
    title: str
    text: str
    paragraphs: tuple[Paragraph, ...]
    source: str = ""
    format: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    journal: str = ""
    licence: str = ""
    recipes: tuple[str, ...] = ()
    arxiv_id: str = ""
    originals: tuple[Original, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a recipe with the conditions its source span states, as written there.

    `conditions` are those that no other field is for, `materials` what is worked on or added.
    """

    operation: str
    span: Span
    temperature: str = ""
    time: str = ""
    atmosphere: str = ""
    materials: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A structured procedure: what is made, how, from what, in which ordered steps.

    `read` are the spans of the paper that a language model read for it, in the order of reading;
    `dropped` says, at a paper's first recipe, what of its words the paper does not state and which
    parts it failed at, `<field>: <why>` each;
    `fallback` why the extractive extractor wrote the recipe in a language model's place.
    """

    material: str = ""
    method: str = ""
    precursors: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    extractor: str = ""
    key_points: tuple[str, ...] = ()
    read: tuple[Span, ...] = ()
    dropped: tuple[str, ...] = ()
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """An embedded unit of one view of one paper.

    `passage_id` is a function of paper id, view, content and (for equal content within a
    paper) occurrence, so the same content has the same id in every build. `text` is what is
    indexed. `spans` are where its support stands in the paper's text: one span for a
    paragraph, the steps' source spans for a recipe. `support` is what a reader is shown and a
    citation quotes: the paragraph itself, or the steps' source sentences joined by spaces
    (the recipe text itself where the source brings a recipe without spans). `originals` are the
    places of `support` where the file's own text differs, in order and disjoint. `page` to
    `last_page` is where the support stands, None where the source has no pages.
    """

    passage_id: str
    paper_id: str
    view: View
    ordinal: int
    title: str
    heading: str
    text: str
    support: str
    spans: tuple[Span, ...] = ()
    kind: Kind = Kind.TEXT
    year: int | None = None
    originals: tuple[Original, ...] = ()
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must satisfy. An empty `paper_ids` allows all; years are inclusive.

    A paper without a known year passes no year filter.
    """

    paper_ids: frozenset[str] = frozenset()
    year_from: int | None = None
    year_to: int | None = None

    def __bool__(self) -> bool:
        return bool(self.paper_ids) or self.year_from is not None or self.year_to is not None


@dataclass(frozen=True, slots=True)
class Query:
    """A question with everything that decides its answer.

    `views` restricts to these views (empty: those of the method). `timeout_ms` counts from
    acceptance. `min_coverage` in 0..1 is the least share of each searched view's shards that
    must answer.
    """

    text: str
    method: Method = Method.HYBRID
    k: int = 10
    views: frozenset[View] = frozenset()
    filters: Filters = Filters()
    timeout_ms: int = 30_000
    min_coverage: float = 0.0

    def with_kept(self, kept_ids: Mapping[str, str]) -> "Query":
        """The query with each paper id that `kept_ids` maps to another replaced by that."""
        ids = frozenset(kept_ids.get(paper_id, paper_id) for paper_id in self.filters.paper_ids)
        return replace(self, filters=replace(self.filters, paper_ids=ids))


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score and its rank from 1.

    `score` is the sum of `parts`; `terms` says what each word, formula or quantity of the question
    adds to the lexical part (in paper mode: to coverage).
    """

    passage: Passage
    score: float
    rank: int
    parts: Mapping[str, float] = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which shards of one view answered, and why the others did not."""

    view: View
    shards: int
    answered: tuple[int, ...]
    errors: Mapping[int, str] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return len(self.answered) / self.shards if self.shards else 1.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Ranked hits of one query with what it took: milliseconds per stage, coverage per view."""

    hits: tuple[Hit, ...]
    snapshot_id: str
    stage_ms: Mapping[str, float]
    coverage: tuple[Coverage, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """What `[number]` in an answer points to: a verbatim quote of a passage's support text.

    `span` is where the quote stands in the paper's text, None if that is not known. `original`
    is what people are shown: the quote as the source's file has it, "" where that is the same.
    `page` to `last_page` are its passage's.
    """

    number: int
    paper_id: str
    passage_id: str
    title: str
    quote: str
    span: Span | None = None
    original: str = ""
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or an abstention that says why in `text` and cites the nearest evidence, or
    both sides where the evidence conflicts.

    `abstention` is None unless `abstained`. `answerer` is who wrote it, `fallback` why that was
    the extractive answerer in a language model's place. `unsupported` says of each sentence that a
    model wrote and that was left out or replaced by a quote why it was.
    """

    text: str
    abstained: bool
    citations: tuple[Citation, ...]
    abstention: Abstention | None = None
    answerer: str = ""
    fallback: str = ""
    unsupported: tuple[str, ...] = ()


# A piece of an answer's text; the last item is the complete answer and what it was made from.
Piece = str | tuple[Answer, SearchResult]


@dataclass(frozen=True, slots=True)
class Rejection:
    """A quarantine row: what was not indexed, at which stage, and why.

    `head_hash` is the sha256 hex digest of the first 4096 bytes, "" when there were none to read.
    """

    path: str
    stage: str
    reason: str
    head_hash: str = ""
