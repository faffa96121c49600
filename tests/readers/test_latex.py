"""LaTeX mathematics as plain text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.readers.latex import plain, strip_math


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"$1100^{\circ}\mathrm{C}$", "1100°C"),
        (r"$\mathrm{Al}_{0.5}$", "Al0.5"),
        (r"$\mathrm{Fe_{31}Mn_{28}Ti_x}$", "Fe31Mn28Tix"),
        (r"$10^{14}$ and $2 \times 10^{-3} \mathrm{~s}^{-1}$", "10¹⁴ and 2 × 10⁻³ s⁻¹"),
        (r"$\sim 140\mathrm{MPa}$ for $10\mathrm{h}$", "∼140 MPa for 10 h"),
        (r"($0 - 3\mathrm{wt}.\%$)", "(0–3 wt.%)"),
        (r"$x - y$ and $-5$", "x−y and −5"),
        (r"$\geq 99.9\%$", "≥ 99.9%"),
        (r"$D = \frac {0 . 8 9 \lambda}{B \cos \theta} \tag {1}$", "D = 0.89λ/(B cos θ) (1)"),
        (r"$\sqrt{a}$, $\sqrt{a+b}$", "√a, √(a+b)"),
        (r"$\overline{r} = \sum c_i r_i$", "r = ∑ciri"),
        (r"$\text{for all } x$", "for all x"),
        (r"$10^{-2.5}$", "10^−2.5"),
        (r"$\unknown{kept}$ $\alsokept$", "kept alsokept"),
        (r"$a &lt; b$", "a < b"),
        (r"\(x^2\) and \[E_0\]", " x²  and  E0 "),
        (r"$$x_1$$", " x1 "),
        (r"\documentclass{minimal} \begin{document}$$\alpha$$\end{document} α", " α  α"),
    ],
)
def test_mathematics_becomes_plain(source: str, text: str) -> None:
    assert strip_math(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("CoCrFeNiMo $_{0.2}$ alloy", "CoCrFeNiMo0.2 alloy"),
        ("10 $^{14}$ cm $^{-3}$ in 5 m $^{2}$", "10¹⁴ cm⁻³ in 5 m²"),
        ("Ni_{3}(Ti, Al) and 10^{4}", "Ni3(Ti, Al) and 10⁴"),
        ("phases $^{1,2}$ . Cui Zhang $^{1,*}$ and hardnesses^{8,23--35}.",
         "phases. Cui Zhang and hardnesses."),
        ("alloy $x$ , which", "alloy x, which"),
    ],
)  # fmt: skip
def test_scripts_join_what_they_belong_to_and_citation_marks_go(source: str, text: str) -> None:
    assert strip_math(source) == text


@pytest.mark.parametrize("text", ["from $5 to $10", "costs $5 and a $10 fee", "no math", "a $ b"])
def test_dollars_that_are_money_stay(text: str) -> None:
    assert strip_math(text) == text


def test_unbalanced_braces_lose_nothing_but_themselves() -> None:
    assert plain("a} b") == "ab"
    assert plain("{a b") == "ab"


@given(st.text(alphabet=r"\${}^_ab1 [](),-&fractmhs"))
def test_no_mathematics_breaks_the_reader(text: str) -> None:
    strip_math(f"${text}$ {text}")


@pytest.mark.parametrize("unit", ["$ ", "\\[ ", "\\( ", "\\documentclass ", "_{", "\\frac", "{"])
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    strip_math(unit * 20_000)
    plain(unit * 20_000)
    assert time.process_time() - started < 5
