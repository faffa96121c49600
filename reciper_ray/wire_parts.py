"""What messages are made of: hits, passages, citations, recipes; see `reciper_ray.wire`."""

from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray.types import (
    Citation,
    Hit,
    Kind,
    Original,
    Passage,
    Recipe,
    Span,
    Step,
    View,
)


def encode_hit(hit: Hit) -> pb.Hit:
    return pb.Hit(
        passage=encode_passage(hit.passage),
        score=hit.score,
        rank=hit.rank,
        parts=hit.parts,
        terms=hit.terms,
    )


def decode_hit(hit: pb.Hit) -> Hit:
    return Hit(
        decode_passage(hit.passage),
        hit.score,
        hit.rank,
        dict(sorted(hit.parts.items())),
        dict(sorted(hit.terms.items())),
    )


def encode_passage(passage: Passage) -> pb.Passage:
    return pb.Passage(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        view=passage.view,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
        support=passage.support,
        spans=map(encode_span, passage.spans),
        kind=passage.kind,
        year=passage.year,
        ordinal=passage.ordinal,
        originals=map(encode_original, passage.originals),
        page=passage.page,
        last_page=passage.last_page,
    )


def decode_passage(passage: pb.Passage) -> Passage:
    return Passage(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        view=View(passage.view),
        ordinal=passage.ordinal,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
        support=passage.support,
        spans=tuple(map(decode_span, passage.spans)),
        kind=Kind(passage.kind),
        year=passage.year if passage.HasField("year") else None,
        originals=tuple(map(decode_original, passage.originals)),
        page=passage.page if passage.HasField("page") else None,
        last_page=passage.last_page if passage.HasField("last_page") else None,
    )


def encode_original(original: Original) -> pb.Original:
    return pb.Original(start=original.start, end=original.end, text=original.text)


def decode_original(original: pb.Original) -> Original:
    return Original(original.start, original.end, original.text)


def encode_span(span: Span) -> pb.Span:
    return pb.Span(start=span.start, end=span.end)


def decode_span(span: pb.Span) -> Span:
    return Span(span.start, span.end)


def encode_citation(citation: Citation) -> pb.Citation:
    return pb.Citation(
        number=citation.number,
        paper_id=citation.paper_id,
        passage_id=citation.passage_id,
        title=citation.title,
        quote=citation.quote,
        span=encode_span(citation.span) if citation.span else None,
        original=citation.original,
        page=citation.page,
        last_page=citation.last_page,
    )


def decode_citation(c: pb.Citation) -> Citation:
    return Citation(
        number=c.number,
        paper_id=c.paper_id,
        passage_id=c.passage_id,
        title=c.title,
        quote=c.quote,
        span=decode_span(c.span) if c.HasField("span") else None,
        original=c.original,
        page=c.page if c.HasField("page") else None,
        last_page=c.last_page if c.HasField("last_page") else None,
    )


def encode_recipe(recipe: Recipe) -> pb.Recipe:
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
                span=encode_span(step.span),
                materials=step.materials,
                conditions=step.conditions,
            )
            for step in recipe.steps
        ],
        extractor=recipe.extractor,
        key_points=recipe.key_points,
        read=map(encode_span, recipe.read),
        dropped=recipe.dropped,
        fallback=recipe.fallback,
    )


def decode_recipe(recipe: pb.Recipe) -> Recipe:
    steps = tuple(
        Step(
            operation=s.operation,
            span=decode_span(s.span),
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
        read=tuple(map(decode_span, recipe.read)),
        dropped=tuple(recipe.dropped),
        fallback=recipe.fallback,
    )
