"""Types to messages and back: nothing is lost, and what means nothing is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import wire
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray.errors import InvalidArgument
from reciper_ray.snapshot import IndexedPaper
from reciper_ray.types import (
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

# Protobuf's strings are UTF-8, which has no lone surrogates.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
number = st.floats(allow_nan=False)
count = st.integers(0, 2**32 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
named = st.dictionaries(text, number, max_size=3)
span = st.builds(Span, count, count)
original = st.builds(Original, count, count, text)


def many(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


passage = st.builds(
    Passage,
    passage_id=text,
    paper_id=text,
    view=st.sampled_from(View),
    ordinal=count,
    title=text,
    heading=text,
    text=text,
    support=text,
    spans=many(span),
    kind=st.sampled_from(Kind),
    year=st.none() | int32,
    originals=many(original),
    page=st.none() | count,
    last_page=st.none() | count,
)
hit = st.builds(Hit, passage, number, count, named)
coverage = st.builds(
    Coverage, st.sampled_from(View), count, many(count), st.dictionaries(count, text, max_size=3)
)
result = st.builds(SearchResult, many(hit), text, named, many(coverage))
page = st.none() | count
citation = st.builds(Citation, count, text, text, text, text, st.none() | span, text, page, page)
answer = st.builds(Answer, text, st.booleans(), many(citation))
step = st.builds(
    Step,
    operation=text,
    span=span,
    temperature=text,
    time=text,
    atmosphere=text,
    materials=many(text),
    conditions=many(text),
)
recipe = st.builds(
    Recipe,
    material=text,
    method=text,
    precursors=many(text),
    steps=many(step),
    extractor=text,
    key_points=many(text),
    read=many(span),
    dropped=many(text),
    fallback=text,
)
paper = st.builds(
    Paper,
    paper_id=text,
    title=text,
    text=text,
    paragraphs=st.just(()),
    source=text,
    doi=text,
    year=st.none() | int32,
    licence=text,
    originals=many(original),
)
query = st.builds(
    Query,
    text=text,
    method=st.sampled_from(Method),
    k=int32,
    views=st.frozensets(st.sampled_from(View)),
    filters=st.builds(
        Filters, st.frozensets(text, max_size=3), st.none() | int32, st.none() | int32
    ),
    timeout_ms=int32,
    min_coverage=number,
)
info = st.builds(
    wire.Info,
    version=text,
    snapshot_id=text,
    encoder=text,
    dimension=count,
    papers=count,
    passages=st.dictionaries(st.sampled_from(View), count),
    methods=many(st.sampled_from(Method)),
    limits=st.dictionaries(text, count, max_size=3),
    coverage=many(coverage),
)


@given(query)
def test_a_query_comes_back_as_it_was(query: Query) -> None:
    assert wire.decode_query(wire.encode_query(query), default_timeout_ms=1) == query


@given(result)
def test_a_result_comes_back_as_it_was(result: SearchResult) -> None:
    assert wire.decode_result(wire.encode_result(result)) == result


@given(answer, result, named)
def test_an_answer_comes_back_with_its_evidence(
    answer: Answer, result: SearchResult, stage_ms: dict[str, float]
) -> None:
    back, evidence = wire.decode_answer(wire.encode_answer(answer, result, stage_ms))
    assert back == answer
    assert evidence == SearchResult(result.hits, result.snapshot_id, stage_ms, result.coverage)


@given(st.builds(IndexedPaper, paper, many(recipe), many(passage)))
def test_a_paper_comes_back_with_recipes_and_passages(indexed: IndexedPaper) -> None:
    assert wire.decode_paper(wire.encode_paper(indexed, pb.Served())) == indexed


@given(info)
def test_what_is_served_comes_back_as_it_was(info: wire.Info) -> None:
    assert wire.decode_info(wire.encode_info(info, {})) == info


def test_an_empty_request_asks_for_ten_hits_by_the_default_method_in_the_servers_time() -> None:
    asked = wire.decode_query(pb.SearchRequest(question="q"), default_timeout_ms=1234)
    assert asked == Query("q", Method.HYBRID, k=10, timeout_ms=1234)


def test_a_zero_is_what_was_asked_for_and_no_default() -> None:
    request = pb.SearchRequest(question="q", k=0, timeout_ms=0)
    assert wire.decode_query(request, default_timeout_ms=1234) == Query("q", k=0, timeout_ms=0)


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (
            pb.SearchRequest(method="magic"),
            "method = 'magic' is not one of hybrid, reciper, paragraph, recipe, bm25",
        ),
        (
            pb.SearchRequest(views=["recipe", "figure"]),
            "views = 'figure' is not one of paragraph, recipe",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    request_: pb.SearchRequest, sentence: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        wire.decode_query(request_, default_timeout_ms=1)
    assert str(refused.value) == sentence


def test_the_field_numbers_of_a_request_stay_as_they_are() -> None:
    """Clients in the field hold these; a test that fails here means a broken interface."""
    fields = {f.name: f.number for f in pb.SearchRequest.DESCRIPTOR.fields}
    assert fields == {
        "question": 1,
        "method": 2,
        "k": 3,
        "views": 4,
        "filters": 5,
        "timeout_ms": 6,
        "min_coverage": 7,
    }
