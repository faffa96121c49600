"""Words by their stems, so that `calcined`, `calcination` and `calcining` are one."""

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[A-Za-z]{2,}")
_IRREGULAR = {
    "ground": "grind", "spun": "spin", "electrospun": "electrospin", "grown": "grow",
    "growth": "grow", "held": "hold", "kept": "keep", "frozen": "freez", "molten": "melt",
    "filtration": "filter", "pyrolysis": "pyrolyz", "fed": "feed", "fired": "fire",
    "hydrolysis": "hydrolyz", "swollen": "swell", "shaken": "shake", "drawn": "draw",
}  # fmt: skip
_SPELT_WITH_S = re.compile(r"([iy])s(e|es|ed|ing|ation)$")
_stemmer = Stemmer.Stemmer("english")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of an English word, the same for both spellings of -ise."""
    lower = word.lower()
    regular = _SPELT_WITH_S.sub(r"\1z\2", lower)
    return _IRREGULAR.get(lower) or str(_stemmer.stemWord(regular))


def stems(text: str) -> frozenset[str]:
    """The stems of the words of `text`; one letter is no word."""
    return frozenset(stem(match[0]) for match in _WORD.finditer(text))
