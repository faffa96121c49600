"""The terms that a text is indexed and asked by: words, formulas and quantities.

Besides its words a text has marks, which say the same however it is written: a formula's
composition (`=O2Ti` for TiO2, TiO₂ and titanium dioxide), its element-amount pairs (`Co0.8`), and
its quantities in SI units (`@873K` for 600 °C and 873 K). Marks repeat what words say already, so
they weigh less and do not lengthen a passage.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

import Stemmer

from reciper_ray import formula, quantity
from reciper_ray.types import Passage

TOKENIZER_VERSION = "2"

# At full weight the pairs of a long formula outvote the words that say what was done.
PAIR_WEIGHT = 0.3
COMPOSITION_WEIGHT = 0.3
QUANTITY_WEIGHT = 0.5

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"), "-")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}),(?=\d{3}(?!\d))")
# A number keeps its decimals; a word keeps digits and inner decimal points, so that
# LiNi0.5Mn1.5O4 is one token.
_TOKEN = re.compile(r"[^\W_]+(?:\.\d+[^\W_]*)*")
_NUMBER_UNIT = re.compile(r"(\d+(?:\.\d+)?)([^\W\d_]+)")
_ELEMENT = re.compile(r"[A-Z][a-z]?(?:\d+(?:\.\d+)?)?")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?(?:\d+(?:\.\d+)?)?){2,}")
_WORD = re.compile(r"[a-z]+")

# British spellings; what they make of other words (`rise`) does no harm, since it does so always.
_SPELLINGS = tuple(
    (re.compile(pattern), spelling)
    for pattern, spelling in (
        (r"is(e|es|ed|ing|ation|ations|er|ers)$", r"iz\1"),
        (r"ys(e|es|ed|ing)$", r"yz\1"),
        (r"our(s|ed|ing|less|al)?$", r"or\1"),
        (r"^aluminium$", "aluminum"),
        (r"^sulph", "sulf"),
        (r"^caes", "ces"),
        (r"^(fib|cent|lit|met)re(s?)$", r"\1er\2"),
        (r"^(micro|nano|milli|centi)(fib|met|lit)re(s?)$", r"\1\2er\3"),
        (r"^grey", "gray"),
        (r"^mould", "mold"),
        (r"^(label|model|channel|level|tunnel|signal)l(ed|ing)$", r"\1\2"),
    )
)

# Words that carry no content in a procedure question; everything else is left to idf.
STOP = frozenset(
    _WORD.findall(
        "a an and are as at be by can did do does for from had has have how in into is it its of on"
        " or that the their them then there these they this those to was were what when where"
        " which while who why will with"
    )
)

_ANY_SPELLING = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _SPELLINGS))

_stemmer = Stemmer.Stemmer("english")
_stemming = threading.Lock()  # a stemmer holds the word it works on


def tokens(text: str, correct: Callable[[str], str] = str) -> list[str]:
    """The words of `text` in order: stems in lower case, without stop words; a formula keeps its
    form, and a number written onto its unit (`600h`) is two. `correct` is asked about each
    word."""
    found: list[str] = []
    for token in _split(text):
        lowered = token.lower()
        if lowered in STOP:
            continue
        if split := _NUMBER_UNIT.fullmatch(lowered):
            found.extend(split.groups())
        else:
            found.append(stem(correct(lowered)))
    return found


def terms(text: str, correct: Callable[[str], str] = str) -> list[str]:
    """The tokens of `text` and, after them, its marks."""
    return [*tokens(text, correct), *_marks(text)]


def _marks(text: str) -> Iterator[str]:
    for token in _split(text):
        if any(map(str.isdigit, token)) and _FORMULA.fullmatch(token):
            yield from _ELEMENT.findall(token)
    for _, found in formula.find(text):
        if len(found.elements) > 1:
            yield f"={found.canonical}"
    yield from _named(text)
    for q in quantity.find(text):
        for value in q.values:
            yield f"@{value:.3g}{q.unit.si}" if q.unit.si != "K" else f"@{value:.0f}K"


def _named(text: str) -> Iterator[str]:
    """The compositions that names in `text` stand for."""
    names = _chemicals()
    words = [_spelt(word) for word in _WORD.findall(text.lower())]
    at = 0
    while at < len(words):
        for length in (3, 2, 1):
            composition = names.get(tuple(words[at : at + length]))
            if composition:
                yield f"={composition}"
                at += length
                break
        else:
            at += 1


@cache
def chemical_names() -> Mapping[str, str]:
    """Common chemicals: name, in American spelling and lower case, to formula."""
    table = (files("reciper_ray") / "data" / "chemicals.tsv").read_text("utf-8")
    lines = (line for line in table.splitlines() if not line.startswith("#"))
    return {name: written for name, _, written in (line.partition("\t") for line in lines)}


@cache
def _chemicals() -> Mapping[tuple[str, ...], str]:
    parsed = {name: formula.parse(written) for name, written in chemical_names().items()}
    return {tuple(name.split()): found.canonical for name, found in parsed.items() if found}


def _split(text: str) -> list[str]:
    normal = unicodedata.normalize("NFKC", text).translate(_DASHES)
    return _TOKEN.findall(_THOUSANDS.sub(r"\1", normal))


def _spelt(word: str) -> str:
    if not _ANY_SPELLING.search(word):
        return word
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    return word


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word; what is not of plain letters stays as it is."""
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        found: str = _stemmer.stemWord(_spelt(word))
    return found


def weight(term: str) -> float:
    """How much a term counts, by what it is."""
    if term[:1].isupper():
        return PAIR_WEIGHT
    return {"=": COMPOSITION_WEIGHT, "@": QUANTITY_WEIGHT}.get(term[:1], 1.0)


def term_counts(passage: Passage) -> dict[str, int]:
    """How often each term stands in the passage's title, heading and text."""
    return dict(Counter(terms(f"{passage.title}\n{passage.heading}\n{passage.text}")))


def length(counts: Mapping[str, int]) -> int:
    """A passage's length in tokens; marks do not count."""
    return sum(count for term, count in counts.items() if weight(term) == 1.0)


def corrected(word: str, frequency: Callable[[str], int]) -> str:
    """`word`, or if no passage holds it the most frequent word that one slip away from it.

    `frequency` says how many passages hold a stem. Only words of five plain letters or more are
    looked at: among shorter ones everything is one slip from something.
    """
    if len(word) < 5 or not (word.isascii() and word.isalpha()) or frequency(stem(word)):
        return word
    others = sorted(_one_slip(word))
    with _stemming:
        stems: list[str] = _stemmer.stemWords([_spelt(other) for other in others])
    often, best = max(zip(map(frequency, stems), others, strict=True))
    return best if often else word


def _one_slip(word: str) -> set[str]:
    """Words with one letter left out, doubled up, swapped with the next, or another."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    halves = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return (
        {a + b[1:] for a, b in halves if b}
        | {a + b[1] + b[0] + b[2:] for a, b in halves if len(b) > 1}
        | {a + letter + b[1:] for a, b in halves if b for letter in letters}
        | {a + letter + b for a, b in halves for letter in letters}
    )
