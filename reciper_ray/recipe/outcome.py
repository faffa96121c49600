"""How a language model fared as extractor: what its recipes say of themselves, counted."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reciper_ray.types import Recipe


@dataclass(frozen=True, slots=True)
class Outcome:
    """Papers whose recipes the model wrote (`written`) and those where the extractive extractor had
    to, by reason; values that the model wrote and that the paper does not state, by
    `<field>: <why>`. The most frequent come first."""

    written: int = 0
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


def outcome(papers: Iterable[Sequence[Recipe]]) -> Outcome:
    """The outcome over the recipes of each paper; papers without a recipe do not count."""
    written = 0
    fallbacks: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for recipes in papers:
        reasons = {recipe.fallback for recipe in recipes}
        written += "" in reasons
        fallbacks.update(reasons - {""})
        # The first recipe of a paper says what was dropped of all of them.
        dropped.update(recipes[0].dropped if recipes else ())
    return Outcome(written, _sorted(fallbacks), _sorted(dropped))


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
