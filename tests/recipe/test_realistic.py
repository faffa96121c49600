"""Outputs as models of 7B to 32B write them about a real paper, truths and lies mixed."""

from pathlib import Path

import pytest

from reciper_ray.readers import read
from reciper_ray.recipe.draft import parse
from reciper_ray.recipe.ground import Grounded, ground
from reciper_ray.recipe.source import Source
from reciper_ray.types import Paper, Rejection, Span

REASONING = """<think>
Okay, so I need to extract the procedure. They dissolved FeSO4·7H2O and H3PO4... then stirring for
3 h, hmm, evaporated at 80°C for 12 h. Let me draft: {"recipes": [{"material": "LiFePO4"}]}.
Wait, usually one calcines LiFePO4 at 700 °C under argon. I will add this as well.
</think>

Here is the extracted procedure:

```json
{
  "recipes": [
    {
      "material": "LiFePO4/graphene",
      "method": "microwave synthesis",
      "precursors": ["FeSO4·7H2O", "LiOH·H2O", "H3PO4", "Li2CO3"],
      "confidence": 0.93,
      "steps": [
        {"operation": "dissolving", "materials": ["FeSO4·7H2O", "H3PO4"], "temperature": null,
         "time": null, "atmosphere": "N/A"},
        {"operation": "stirring", "time": "3 hours", "temperature": "60 °C"},
        {"operation": "evaporation", "temperature": {"value": 80, "unit": "°C"}, "time": 12},
        {"operation": "microwave irradiation", "time": "10 min",
         "conditions": ["1,500 W", "2.45 GHz", "500 rpm"]},
        {"operation": "calcination", "temperature": "700 °C", "time": "6 h", "atmosphere": "argon"}
      ],
      "key_points": ["The molar ratio of Li:Fe:P is 3:1:1", "Yields 98 % pure LiFePO4"]
    }
  ]
}
```
The calcination step ensures good crystallinity."""

LOOSE = """Sure! [{"Material Name": "LiCoPO4/C", "Procedure": [
  "Stir for 3 h",
  "Evaporate the solution at 80 °C for 12 min",
  "Press into pellets and sinter at 900 °C for 10 h in Ar",
  {"step": 4, "description": "Dry the slurry at 120 °C for 12 h"},
  {"action": "Raman", "temp": "room temperature"}
], "notes": 42, "doi": "10.1/x"}"""


@pytest.fixture(scope="module")
def paper(sample: Path) -> Paper:
    file = sample / "papers/PMC7052380.xml"
    (record,) = read(file.name, file.read_bytes())
    assert not isinstance(record, Rejection)
    return record


def grounded(paper: Paper, text: str) -> Grounded:
    return ground(Source(paper), parse(text), [Span(0, len(paper.text))], "test")


def test_a_reasoning_models_additions_are_dropped_and_its_findings_kept(paper: Paper) -> None:
    (recipe,) = grounded(paper, REASONING).recipes
    assert [(s.operation, s.temperature, s.time, s.atmosphere) for s in recipe.steps] == [
        ("dissolving", "", "", ""),
        ("stirring", "", "3 h", ""),
        ("evaporation", "80°C", "12 h", ""),
        ("microwave", "", "10 min", ""),
    ]
    assert recipe.steps[0].materials == ("FeSO4·7H2O", "H3PO4")
    assert recipe.steps[3].conditions == ("1,500 W", "2.45 GHz")
    assert recipe.material == "LiFePO4/graphene"
    assert recipe.precursors == ("FeSO4·7H2O", "LiOH·H2O", "H3PO4")
    assert recipe.key_points == ("The molar ratio of Li:Fe:P is 3:1:1",)


def test_an_output_without_form_is_read_and_its_lies_are_caught(paper: Paper) -> None:
    found = grounded(paper, LOOSE)
    (recipe,) = found.recipes
    assert recipe.material == ""
    assert [(s.operation, s.temperature, s.time) for s in recipe.steps] == [
        ("stir", "", "3 h"),
        ("evaporate", "80°C", ""),
        ("dry", "120°C", "12 h"),
    ]
    assert found.dropped["material: not in the text"] == 1
    assert (
        found.dropped["time: not in the text"] + found.dropped["time: elsewhere in the text"] >= 2
    )


def test_every_value_of_every_step_stands_in_its_span(paper: Paper) -> None:
    for text in (REASONING, LOOSE):
        for recipe in grounded(paper, text).recipes:
            for step in recipe.steps:
                source = paper.text[step.span.start : step.span.end]
                for value in (step.temperature, step.time, step.atmosphere, *step.conditions):
                    assert value in source
