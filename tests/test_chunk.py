"""Paragraphs to passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.chunk import Limit, chunk, passage_id
from reciper_ray.types import Kind, Paper, Paragraph, View


def count_words(text: str) -> int:
    return len(text.split())


def paper(*parts: tuple[str, str] | tuple[str, str, Kind]) -> Paper:
    """A paper of (heading, text[, kind]) paragraphs."""
    text = ""
    paragraphs = []
    for heading, body, *kind in parts:
        start = len(text)
        text += body + "\n\n"
        paragraphs.append(Paragraph(start, start + len(body), heading, *kind))
    return Paper("p1", "A title", text.rstrip(), tuple(paragraphs), year=2020)


def texts(paper: Paper, *, chars: int = 1000, words: int = 1000) -> list[str]:
    return [passage.text for passage in chunk(paper, Limit(chars, words, count_words))]


def test_short_neighbours_of_one_section_share_a_passage() -> None:
    assert texts(paper(("A", "One."), ("A", "Two."), ("B", "Three."))) == ["One.\n\nTwo.", "Three."]


def test_paragraphs_of_another_kind_or_heading_do_not_share_a_passage() -> None:
    parts = paper(("A", "One."), ("A", "Figure 1. Two.", Kind.CAPTION), ("A", "Three."))
    passages = chunk(parts, Limit(100, 100, count_words))
    assert [(p.text, p.kind) for p in passages] == [
        ("One.", Kind.TEXT),
        ("Figure 1. Two.", Kind.CAPTION),
        ("Three.", Kind.TEXT),
    ]


def test_a_paragraph_that_does_not_fit_beside_its_neighbour_starts_a_passage() -> None:
    # 9 + 2 + 9 characters are 20; a limit of 19 parts them.
    both = paper(("A", "It is on."), ("A", "It is up."))
    assert texts(both, chars=20) == ["It is on.\n\nIt is up."]
    assert texts(both, chars=19) == ["It is on.", "It is up."]


def test_a_long_paragraph_is_split_between_sentences() -> None:
    long = paper(("A", "One two. Three four. Five six."))
    assert texts(long, words=4) == ["One two. Three four.", "Five six."]


def test_a_sentence_longer_than_the_limit_is_cut_at_a_word() -> None:
    assert texts(paper(("A", "aa bb cc dd ee. Ff.")), words=2) == ["aa bb", "cc dd", "ee. Ff."]
    assert texts(paper(("A", "aa bb cc dd ee. Ff.")), chars=8) == ["aa bb cc", "dd ee.", "Ff."]


def test_a_word_longer_than_the_limit_is_cut_at_a_character() -> None:
    assert texts(paper(("A", "abcdefgh ij")), chars=3) == ["abc", "def", "gh", "ij"]


def test_a_word_of_too_many_tokens_is_halved_until_it_fits() -> None:
    passages = chunk(paper(("A", "abcdefgh")), Limit(100, 3, len))
    assert [p.text for p in passages] == ["ab", "cd", "ef", "gh"]


def test_a_table_is_split_between_rows() -> None:
    table = paper(("T", "Alloy | HV. Mean\nA | 1\nB | 2", Kind.TABLE))
    # 4 + 3 words fit into 7, 3 more do not; the stop in the first row parts nothing.
    assert texts(table, words=7) == ["Alloy | HV. Mean\nA | 1", "B | 2"]


def test_a_passage_says_where_it_stands() -> None:
    source = paper(("A", "One two. Three."), ("B", "Four."))
    first, second, third = chunk(source, Limit(10, 10, count_words))
    assert [first.text, second.text, third.text] == ["One two.", "Three.", "Four."]
    for ordinal, passage in enumerate((first, second, third)):
        (span,) = passage.spans
        assert passage.text == passage.support == source.text[span.start : span.end]
        assert (passage.ordinal, passage.view, passage.paper_id) == (ordinal, View.PARAGRAPH, "p1")
        assert (passage.title, passage.year) == ("A title", 2020)
    assert third.heading == "B"


def test_no_paragraphs_give_no_passages() -> None:
    assert chunk(paper(), Limit(10, 10, count_words)) == []


def test_ids_are_the_same_in_every_build() -> None:
    assert passage_id("p1", View.PARAGRAPH, "A\nOne.", 0) == "p1:p:3e03eca858be"
    assert passage_id("p1", View.RECIPE, "A\nOne.", 0) == "p1:r:3e03eca858be"


def test_an_id_does_not_depend_on_the_rest_of_the_paper() -> None:
    limit = Limit(10, 10, count_words)
    alone = chunk(paper(("B", "Four.")), limit)[0].passage_id
    assert chunk(paper(("A", "One."), ("B", "Four.")), limit)[1].passage_id == alone


def test_equal_passages_of_a_paper_have_ids_of_their_own() -> None:
    passages = chunk(paper(("A", "Same. Same. Same.")), Limit(5, 5, count_words))
    assert [p.text for p in passages] == ["Same."] * 3
    assert len({p.passage_id for p in passages}) == 3


def test_a_limit_that_holds_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="max_chars 0"):
        Limit(0, 10, count_words)


def test_tokens_are_counted_once_a_sentence() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return count_words(text)

    chunk(paper(("A", "One two. Three four. Five.")), Limit(20, 4, count))
    assert counted == ["One two.", "Three four.", "Five."]


words = st.text(alphabet="ab1.α", min_size=1, max_size=12)
bodies = st.lists(words, min_size=1, max_size=20).map(" ".join)
kinds = st.sampled_from(Kind)


@given(
    st.lists(st.tuples(st.sampled_from("AB"), bodies, kinds), max_size=6),
    st.integers(1, 40),
    st.integers(1, 8),
)
def test_passages_cover_the_paragraphs_exactly_once_within_the_limit(
    parts: list[tuple[str, str, Kind]], chars: int, tokens: int
) -> None:
    source = paper(*parts)
    passages = chunk(source, Limit(chars, tokens, count_words))
    covered = "".join("".join(p.text.split()) for p in passages)
    assert covered == "".join("".join(body.split()) for _, body, _ in parts)
    assert all(p.text == source.text[p.spans[0].start : p.spans[0].end] for p in passages)
    assert all(p.text.strip() == p.text != "" for p in passages)
    assert all(len(p.text) <= chars and count_words(p.text) <= tokens for p in passages)
    assert len({p.passage_id for p in passages}) == len(passages)
    assert passages == chunk(source, Limit(chars, tokens, count_words))
