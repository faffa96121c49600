"""Between the types and their protobuf messages, for the server and the client alike.

`encode_*` makes a message, `decode_*` reads one. A request that means nothing is refused here
with `InvalidArgument`; whether what it asks is allowed is `reciper_ray.search.validate`'s.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray.errors import InvalidArgument
from reciper_ray.snapshot import IndexedPaper
from reciper_ray.types import (
    Abstention,
    Answer,
    Coverage,
    Filters,
    Method,
    Paper,
    Query,
    SearchResult,
    View,
)
from reciper_ray.wire_parts import (
    decode_citation,
    decode_hit,
    decode_original,
    decode_passage,
    decode_recipe,
    encode_citation,
    encode_hit,
    encode_original,
    encode_passage,
    encode_recipe,
)

E = TypeVar("E", bound=StrEnum)

_ABSTENTIONS = {None: pb.ABSTENTION_NONE} | {
    kind: pb.Abstention.Value(f"ABSTENTION_{kind.name}") for kind in Abstention
}
# A kind that a newer server knows reads as none; `abstained` still says that there is one.
_ABSTAINED = {number: kind for kind, number in _ABSTENTIONS.items()}


@dataclass(frozen=True, slots=True)
class Info:
    """What a server serves: sizes, the encoder's fingerprint and dimension, and the largest
    value that each limited field of a request may have."""

    version: str
    snapshot_id: str
    encoder: str
    dimension: int
    papers: int
    passages: Mapping[View, int]
    methods: tuple[Method, ...]
    limits: Mapping[str, int]
    coverage: tuple[Coverage, ...] = ()


def encode_query(query: Query) -> pb.SearchRequest:
    filters = query.filters
    return pb.SearchRequest(
        question=query.text,
        method=query.method,
        k=query.k,
        views=sorted(query.views),
        filters=pb.Filters(
            paper_ids=sorted(filters.paper_ids),
            year_from=filters.year_from,
            year_to=filters.year_to,
        ),
        timeout_ms=query.timeout_ms,
        min_coverage=query.min_coverage,
    )


def decode_query(request: pb.SearchRequest, default_timeout_ms: int) -> Query:
    """Raises `InvalidArgument` naming an unknown method or view and the known ones."""
    filters = request.filters
    return Query(
        text=request.question,
        method=_member(Method, "method", request.method) if request.method else Method.HYBRID,
        k=request.k if request.HasField("k") else 10,
        views=frozenset(_member(View, "views", name) for name in request.views),
        filters=Filters(
            paper_ids=frozenset(filters.paper_ids),
            year_from=filters.year_from if filters.HasField("year_from") else None,
            year_to=filters.year_to if filters.HasField("year_to") else None,
        ),
        timeout_ms=request.timeout_ms if request.HasField("timeout_ms") else default_timeout_ms,
        min_coverage=request.min_coverage,
    )


def _member(kind: type[E], field: str, value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise InvalidArgument(f"{field} = {value!r} is not one of {known}") from None


def encode_result(result: SearchResult) -> pb.SearchReply:
    return pb.SearchReply(
        hits=map(encode_hit, result.hits),
        served=encode_served(result.snapshot_id, result.stage_ms, result.coverage),
    )


def decode_result(reply: pb.SearchReply) -> SearchResult:
    return _result(reply.hits, reply.served)


def encode_answer(
    answer: Answer, result: SearchResult, stage_ms: Mapping[str, float]
) -> pb.AnswerReply:
    """The last message of an answer's stream; its evidence are the hits of `result`."""
    return pb.AnswerReply(
        answer=pb.CompleteAnswer(
            text=answer.text,
            abstained=answer.abstained,
            citations=map(encode_citation, answer.citations),
            evidence=map(encode_hit, result.hits),
            abstention=_ABSTENTIONS[answer.abstention],
            answerer=answer.answerer,
            fallback=answer.fallback,
            unsupported=answer.unsupported,
        ),
        served=encode_served(result.snapshot_id, stage_ms, result.coverage),
    )


def decode_answer(reply: pb.AnswerReply) -> tuple[Answer, SearchResult]:
    complete = reply.answer
    answer = Answer(
        text=complete.text,
        abstained=complete.abstained,
        citations=tuple(map(decode_citation, complete.citations)),
        abstention=_ABSTAINED.get(complete.abstention),
        answerer=complete.answerer,
        fallback=complete.fallback,
        unsupported=tuple(complete.unsupported),
    )
    return answer, _result(complete.evidence, reply.served)


def encode_paper(indexed: IndexedPaper, served: pb.Served) -> pb.GetPaperReply:
    paper = indexed.paper
    return pb.GetPaperReply(
        paper_id=paper.paper_id,
        title=paper.title,
        text=paper.text,
        source=paper.source,
        doi=paper.doi,
        year=paper.year,
        licence=paper.licence,
        recipes=map(encode_recipe, indexed.recipes),
        passages=map(encode_passage, indexed.passages),
        served=served,
        originals=map(encode_original, paper.originals),
    )


def decode_paper(reply: pb.GetPaperReply) -> IndexedPaper:
    """The paper as far as a reply tells it: without paragraphs, abstract, authors or journal."""
    paper = Paper(
        paper_id=reply.paper_id,
        title=reply.title,
        text=reply.text,
        paragraphs=(),
        source=reply.source,
        doi=reply.doi,
        year=reply.year if reply.HasField("year") else None,
        licence=reply.licence,
        originals=tuple(map(decode_original, reply.originals)),
    )
    return IndexedPaper(
        paper,
        tuple(map(decode_recipe, reply.recipes)),
        tuple(map(decode_passage, reply.passages)),
    )


def encode_info(info: Info, stage_ms: Mapping[str, float]) -> pb.InfoReply:
    return pb.InfoReply(
        version=info.version,
        encoder=info.encoder,
        dimension=info.dimension,
        papers=info.papers,
        passages={str(view): n for view, n in info.passages.items()},
        methods=info.methods,
        limits=info.limits,
        served=encode_served(info.snapshot_id, stage_ms, info.coverage),
    )


def decode_info(reply: pb.InfoReply) -> Info:
    return Info(
        version=reply.version,
        snapshot_id=reply.served.snapshot_id,
        encoder=reply.encoder,
        dimension=reply.dimension,
        papers=reply.papers,
        passages={View(view): n for view, n in sorted(reply.passages.items())},
        methods=tuple(map(Method, reply.methods)),
        limits=dict(sorted(reply.limits.items())),
        coverage=tuple(map(_decode_coverage, reply.served.coverage)),
    )


def encode_served(
    snapshot_id: str, stage_ms: Mapping[str, float], coverage: Iterable[Coverage] = ()
) -> pb.Served:
    return pb.Served(
        snapshot_id=snapshot_id,
        stage_ms=stage_ms,
        coverage=[
            pb.Coverage(view=c.view, shards=c.shards, answered=c.answered, errors=c.errors)
            for c in coverage
        ],
    )


def _result(hits: Iterable[pb.Hit], served: pb.Served) -> SearchResult:
    return SearchResult(
        hits=tuple(map(decode_hit, hits)),
        snapshot_id=served.snapshot_id,
        stage_ms=dict(sorted(served.stage_ms.items())),
        coverage=tuple(map(_decode_coverage, served.coverage)),
    )


def _decode_coverage(c: pb.Coverage) -> Coverage:
    return Coverage(View(c.view), c.shards, tuple(c.answered), dict(sorted(c.errors.items())))
