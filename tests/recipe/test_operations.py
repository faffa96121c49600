"""The operations that a sentence names."""

import pytest

from reciper_ray.recipe import operations
from reciper_ray.recipe.operations import Tells


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("calcined, sintering and stirred", ["calcined", "sintering", "stirred"]),
        ("re-sintered, co-fired and pre-heated", ["re-sintered", "co-fired", "pre-heated"]),
        ("reheated and hotrolled blocks", ["reheated", "hotrolled"]),
        ("ball-milled or ball milling", ["ball-milled", "ball milling"]),
        ("wet-ball ground", ["wet-ball ground"]),
        ("carbonized and carbonised, pyrolyzed", ["carbonized", "carbonised", "pyrolyzed"]),
        ("a heat treatment was carried out", ["heat treatment", "carried out"]),
        ("continued to stir", ["stir"]),
        ("dried and carried over", ["dried", "carried"]),
    ],
)
def test_an_operation_is_named_with_its_modifier(sentence: str, names: list[str]) -> None:
    found = operations.find(sentence)
    assert [operation.text for operation in found] == names
    assert [sentence[o.start : o.end] for o in found] == names


@pytest.mark.parametrize(
    "sentence", ["XRD was measured", "a dry press with a stir bar", "the samples were tested", ""]
)
def test_measuring_and_base_forms_are_no_operations(sentence: str) -> None:
    assert operations.find(sentence) == []


def test_words_tell_what_was_done_what_for_or_little() -> None:
    tells = [
        operation.tells for operation in operations.find("calcined, prepared, held, heat treated")
    ]
    assert tells == [Tells.WHAT, Tells.WHAT_FOR, Tells.LITTLE, Tells.WHAT]
