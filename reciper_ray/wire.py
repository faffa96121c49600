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
    Citation,
    Coverage,
    Filters,
    Hit,
    Kind,
    Method,
    Original,
    Paper,
    Passage,
    Query,
    Recipe,
    SearchResult,
    Span,
    Step,
    View,
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
        hits=map(_encode_hit, result.hits),
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
            citations=map(_encode_citation, answer.citations),
            evidence=map(_encode_hit, result.hits),
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
        citations=tuple(map(_decode_citation, complete.citations)),
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
        recipes=map(_encode_recipe, indexed.recipes),
        passages=map(_encode_passage, indexed.passages),
        served=served,
        originals=map(_encode_original, paper.originals),
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
        originals=tuple(map(_decode_original, reply.originals)),
    )
    return IndexedPaper(
        paper,
        tuple(map(_decode_recipe, reply.recipes)),
        tuple(map(_decode_passage, reply.passages)),
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
        hits=tuple(map(_decode_hit, hits)),
        snapshot_id=served.snapshot_id,
        stage_ms=dict(sorted(served.stage_ms.items())),
        coverage=tuple(map(_decode_coverage, served.coverage)),
    )


def _decode_coverage(c: pb.Coverage) -> Coverage:
    return Coverage(View(c.view), c.shards, tuple(c.answered), dict(sorted(c.errors.items())))


def _encode_hit(hit: Hit) -> pb.Hit:
    return pb.Hit(
        passage=_encode_passage(hit.passage),
        score=hit.score,
        rank=hit.rank,
        parts=hit.parts,
        terms=hit.terms,
    )


def _decode_hit(hit: pb.Hit) -> Hit:
    return Hit(
        _decode_passage(hit.passage),
        hit.score,
        hit.rank,
        dict(sorted(hit.parts.items())),
        dict(sorted(hit.terms.items())),
    )


def _encode_passage(passage: Passage) -> pb.Passage:
    return pb.Passage(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        view=passage.view,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
        support=passage.support,
        spans=map(_encode_span, passage.spans),
        kind=passage.kind,
        year=passage.year,
        ordinal=passage.ordinal,
        originals=map(_encode_original, passage.originals),
        page=passage.page,
        last_page=passage.last_page,
    )


def _decode_passage(passage: pb.Passage) -> Passage:
    return Passage(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        view=View(passage.view),
        ordinal=passage.ordinal,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
        support=passage.support,
        spans=tuple(map(_decode_span, passage.spans)),
        kind=Kind(passage.kind),
        year=passage.year if passage.HasField("year") else None,
        originals=tuple(map(_decode_original, passage.originals)),
        page=passage.page if passage.HasField("page") else None,
        last_page=passage.last_page if passage.HasField("last_page") else None,
    )


def _encode_original(original: Original) -> pb.Original:
    return pb.Original(start=original.start, end=original.end, text=original.text)


def _decode_original(original: pb.Original) -> Original:
    return Original(original.start, original.end, original.text)


def _encode_span(span: Span) -> pb.Span:
    return pb.Span(start=span.start, end=span.end)


def _decode_span(span: pb.Span) -> Span:
    return Span(span.start, span.end)


def _encode_citation(citation: Citation) -> pb.Citation:
    return pb.Citation(
        number=citation.number,
        paper_id=citation.paper_id,
        passage_id=citation.passage_id,
        title=citation.title,
        quote=citation.quote,
        span=_encode_span(citation.span) if citation.span else None,
        original=citation.original,
        page=citation.page,
        last_page=citation.last_page,
    )


def _decode_citation(c: pb.Citation) -> Citation:
    return Citation(
        number=c.number,
        paper_id=c.paper_id,
        passage_id=c.passage_id,
        title=c.title,
        quote=c.quote,
        span=_decode_span(c.span) if c.HasField("span") else None,
        original=c.original,
        page=c.page if c.HasField("page") else None,
        last_page=c.last_page if c.HasField("last_page") else None,
    )


def _encode_recipe(recipe: Recipe) -> pb.Recipe:
    return pb.Recipe(
        material=recipe.material,
        method=recipe.method,
        precursors=recipe.precursors,
        steps=[
            pb.Step(
                operation=step.operation,
                temperature=step.temperature,
                time=step.time,
                atmosphere=step.atmosphere,
                span=_encode_span(step.span),
                materials=step.materials,
                conditions=step.conditions,
            )
            for step in recipe.steps
        ],
        extractor=recipe.extractor,
        key_points=recipe.key_points,
        read=map(_encode_span, recipe.read),
        dropped=recipe.dropped,
        fallback=recipe.fallback,
    )


def _decode_recipe(recipe: pb.Recipe) -> Recipe:
    steps = tuple(
        Step(
            operation=s.operation,
            span=_decode_span(s.span),
            temperature=s.temperature,
            time=s.time,
            atmosphere=s.atmosphere,
            materials=tuple(s.materials),
            conditions=tuple(s.conditions),
        )
        for s in recipe.steps
    )
    return Recipe(
        material=recipe.material,
        method=recipe.method,
        precursors=tuple(recipe.precursors),
        steps=steps,
        extractor=recipe.extractor,
        key_points=tuple(recipe.key_points),
        read=tuple(map(_decode_span, recipe.read)),
        dropped=tuple(recipe.dropped),
        fallback=recipe.fallback,
    )
