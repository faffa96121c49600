"""The recipe view of a paper: its recipes as compact passages.

A recipe reads `<material> by <method> from <precursors>. 1. calcined powder at 900 °C for 5 h in
air (5 °C/min). 2. …`. One that exceeds the limit is split between steps; each part repeats the
head.
"""

from collections.abc import Iterator, Sequence

from reciper_ray.chunk import Limit, chunk, passage_id
from reciper_ray.provenance import originals_of, pages_of
from reciper_ray.types import Paper, Paragraph, Passage, Recipe, Span, Step, View


def recipe_text(recipe: Recipe) -> str:
    """The compact text of a whole recipe."""
    steps = (_numbered(number, step) for number, step in enumerate(recipe.steps, 1))
    return " ".join([*_head(recipe), *steps])


def recipe_passages(paper: Paper, recipes: Sequence[Recipe], limit: Limit) -> list[Passage]:
    """The passages of the extracted `recipes` and of those that came with `paper`, in order.

    The support of an extracted recipe is its steps' source sentences, each once; that of a recipe
    of the source is its own text, without spans. What exceeds `limit` is split between steps, and
    a text or a single step that alone exceeds it as chunking splits a paragraph.
    """
    whole = [part for recipe in recipes for part in _parts(recipe, limit)]
    whole += [(text, ()) for text in paper.recipes]
    written = [(piece, spans) for text, spans in whole for piece in _within(text, limit)]
    passages: list[Passage] = []
    seen: dict[str, int] = {}
    for text, spans in written:
        occurrence = seen.get(text, 0)
        seen[text] = occurrence + 1
        support = " ".join(paper.text[span.start : span.end] for span in spans)
        page, last_page = pages_of(paper, spans)
        passages.append(
            Passage(
                passage_id=passage_id(paper.paper_id, View.RECIPE, text, occurrence),
                paper_id=paper.paper_id,
                view=View.RECIPE,
                ordinal=len(passages),
                title=paper.title,
                heading="",
                text=text,
                support=support or text,
                spans=spans,
                year=paper.year,
                originals=originals_of(paper, spans),
                page=page,
                last_page=last_page,
            )
        )
    return passages


def _parts(recipe: Recipe, limit: Limit) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """The recipe's text with the spans of its steps, in as few parts as `limit` allows."""
    head = _head(recipe)
    lines = list(head)
    spans: list[Span] = []
    for number, step in enumerate(recipe.steps, 1):
        line = _numbered(number, step)
        if spans and not _fits(" ".join([*lines, line]), limit):
            yield " ".join(lines), _distinct(spans)
            lines, spans = list(head), []
        lines.append(line)
        spans.append(step.span)
    if lines:
        yield " ".join(lines), _distinct(spans)


def _within(text: str, limit: Limit) -> list[str]:
    """`text` in pieces within `limit`."""
    if _fits(text, limit):
        return [text]
    alone = Paper("", "", text, (Paragraph(0, len(text)),))
    return [passage.text for passage in chunk(alone, limit)]


def _fits(text: str, limit: Limit) -> bool:
    return len(text) <= limit.max_chars and limit.count_tokens(text) <= limit.max_tokens


def _distinct(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))


def _head(recipe: Recipe) -> list[str]:
    """The line that says what is made, how and from what; none if nothing of it is known."""
    parts = [
        recipe.material,
        f"by {recipe.method}" if recipe.method else "",
        f"from {', '.join(recipe.precursors)}" if recipe.precursors else "",
    ]
    head = " ".join(part for part in parts if part)
    return [f"{head}."] if head else []


def _numbered(number: int, step: Step) -> str:
    parts = [
        f"{number}. {step.operation}",
        ", ".join(step.materials),
        f"at {step.temperature}" if step.temperature else "",
        f"for {step.time}" if step.time and step.time[0].isdigit() else step.time,
        f"in {step.atmosphere}" if step.atmosphere else "",
        f"({', '.join(step.conditions)})" if step.conditions else "",
    ]
    return " ".join(part for part in parts if part) + "."
