from reciper_ray.recipe.outcome import Outcome, outcome
from reciper_ray.types import Recipe


def test_papers_are_counted_by_who_wrote_their_recipes_and_losses_by_reason() -> None:
    kept = Recipe(material="A", dropped=("time: elsewhere in the text", "step: nothing left"))
    again = Recipe(material="B", dropped=("step: nothing left",))
    failed = Recipe(fallback="no JSON", dropped=("part: no JSON",))
    found = outcome([(kept, Recipe(material="C")), (again,), (failed, failed), (failed,), ()])
    assert found == Outcome(
        written=2,
        fallbacks={"no JSON": 2},
        dropped={"part: no JSON": 2, "step: nothing left": 2, "time: elsewhere in the text": 1},
    )
    assert list(found.dropped) == [
        "part: no JSON",
        "step: nothing left",
        "time: elsewhere in the text",
    ]


def test_nothing_is_counted_of_nothing() -> None:
    assert outcome([]) == Outcome()
