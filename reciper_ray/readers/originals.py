"""Where a paper's normalised text differs from what stands in the file.

Readers repair glyphs and exponents, turn LaTeX into plain text, join hyphenated words and lay out
columns, each by its own means; so the two texts are compared word by word afterwards. What stands
between words that agree is an `Original` if it reads the same once it is normalised. Where that
is not so (a table's separators, a figure in the middle) the normalised text stays alone.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from reciper_ray.readers.latex import strip_math
from reciper_ray.text import normalise, squeeze, visible
from reciper_ray.types import Kind, Original, Paragraph

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"\S+")
_CELL = re.compile(r"[^|\n]+")
_BREAK = "\n"
_ANCHOR = 4
"""So many words that agree in a row find a place in the file again; near the last one fewer."""
_FAR = 60
"""So many words may differ between two that agree."""
_FEW = 12
"""So many words are looked for at the end or the start of what agrees."""
_LONG, _NEAR = 30, 1000
_STARTS = 4
_PATIENCE = 300_000_000
"""So many characters are searched in vain before nothing but near places is looked at; a text
that stands nowhere counts as many as take the time."""
_WHOLE_CHARS = 500_000
_CONTENT = re.compile(r"[^\W_]|[$\\]")
_WIDER = ((0, 0), (1, 0), (1, 1), (2, 1))


def originals(text: str, paragraphs: Sequence[Paragraph], written: str) -> tuple[Original, ...]:
    """The places of `paragraphs` in `text` where `written`, in which blank lines part
    paragraphs, differs by more than white space."""
    file = _File(written)
    return tuple(
        original
        for paragraph in paragraphs
        for start, end in _units(text, paragraph)
        for original in file.originals(text, start, end)
    )


def _units(text: str, paragraph: Paragraph) -> Iterator[tuple[int, int]]:
    """What a file writes in one piece: a paragraph, a cell of a table."""
    if paragraph.kind is not Kind.TABLE:
        yield paragraph.start, paragraph.end
        return
    for cell in _CELL.finditer(text, paragraph.start, paragraph.end):
        if not cell[0].isspace():
            yield cell.span()


class _File:
    """The text of a file as words, and how far it has been read."""

    def __init__(self, written: str) -> None:
        parts = filter(None, map(squeeze, _BLANK_LINE.split(visible(written))))
        line = f" {_BREAK} ".join(parts)
        self._words = line.split(" ")
        self._starts = list(accumulate((len(word) + 1 for word in self._words), initial=1))
        self._line = f" {line} "
        self._read = 0
        self._patience = _PATIENCE

    def originals(self, text: str, start: int, end: int) -> Iterator[Original]:
        """Those of `text[start:end]`."""
        whole = squeeze(text[start:end])
        at = self._find(whole)
        if at >= 0:
            if len(whole) >= _LONG or 0 <= at - self._read < _NEAR:
                self._read = at + len(whole)
            return
        places = [match.span() for match in _WORD.finditer(text, start, end)]
        words = [text[a:b] for a, b in places]
        passed = 0
        for difference in self._differences(words):
            first, last, since, until = self._trimmed(words, *difference)
            # What is left out of the text goes with the word before it, and some repairs show
            # only beside their neighbours: the `o` of `oC` behind a number.
            for before, behind in _WIDER if last > first else _WIDER[1:]:
                a, b = first - before, min(last + behind, len(words))
                written = self._joined(since - before, until + b - last)
                if a >= passed and _bare(_clean(written)) == _bare(_folded(words[a:b])):
                    yield Original(places[a][0], places[b - 1][1], written)
                    passed = b
                    break

    def _trimmed(
        self, words: Sequence[str], first: int, last: int, since: int, until: int
    ) -> tuple[int, int, int, int]:
        """A difference without the words at its ends that agree."""
        while first < last and since < until and words[first] == self._words[since]:
            first, since = first + 1, since + 1
        while first < last and since < until and words[last - 1] == self._words[until - 1]:
            last, until = last - 1, until - 1
        return first, last, since, until

    def _find(self, phrase: str) -> int:
        """Where `phrase` stands, looked for from here on and then from the start; -1 for nowhere,
        or when that took too long too often."""
        near = self._read + len(phrase) + _NEAR
        at = self._line.find(phrase, self._read, near)
        for start in (self._read, 0):
            if at < 0 and self._patience > 0:
                at = self._line.find(phrase, start)
                self._patience -= len(self._line) if at < 0 else 0
        return at

    def _joined(self, since: int, until: int) -> str:
        return " ".join(word for word in self._words[since:until] if word != _BREAK)

    def _differences(self, words: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
        """`first, last, since, until` where `words[first:last]` stand for the file's words from
        `since` to `until`, which differ."""
        at, here = 0, -1
        while at < len(words):
            if here < 0:
                following = self._anchor(words, at)
                if following is None:
                    if at == 0 and self._patience > 0:
                        yield from self._whole(words)
                    return
                since = self._before(words[at : following[0]], following[1])
                if since >= 0:
                    yield at, following[0], since, following[1]
                at, here = following
            while at < len(words) and self._word(here) == words[at]:
                at, here = at + 1, here + 1
            self._read = self._starts[min(here, len(self._words))]
            if at == len(words):
                return
            step = self._resume(words, at, here)
            if step is not None:
                yield at, at + step[0], here, here + step[1]
                at, here = at + step[0], here + step[1]
                continue
            until = self._behind(words[at:], here)
            if until >= 0:
                yield at, len(words), here, until
                self._read = self._starts[until - 1]
                return
            here = -1

    def _whole(self, words: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
        """All of `words` where they go on behind what was read last."""
        since = bisect_left(self._starts, self._read)
        for _ in range(_STARTS):
            while self._word(since) and not _CONTENT.search(self._word(since)):
                since += 1
            until = self._behind(words, since)
            if until >= 0:
                self._read = self._starts[until - 1]
                yield 0, len(words), since, until
                return
            since += 1
        self._patience -= _WHOLE_CHARS

    def _word(self, index: int) -> str:
        return self._words[index] if index < len(self._words) else ""

    def _anchor(self, words: Sequence[str], at: int) -> tuple[int, int] | None:
        """The first of `words` from `at` whose place in the file is found, and that place."""
        near = self._read, self._read + _NEAR
        fewer = _ANCHOR - (2 if len(words) <= _FEW else 1)
        for first in range(at, len(words) - fewer + 1):
            found = self._line.find(f" {' '.join(words[first : first + fewer])} ", *near)
            if found < 0 and first + _ANCHOR <= len(words):
                found = self._find(f" {' '.join(words[first : first + _ANCHOR])} ")
            if found >= 0:
                return first, bisect_left(self._starts, found + 1)
        return None

    def _resume(self, words: Sequence[str], at: int, here: int) -> tuple[int, int] | None:
        """How many words to pass in the text and in the file until both agree again."""
        for both in range(1, _FAR):
            for mine in range(min(both + 1, len(words) - at)):
                theirs = both - mine
                if self._word(here + theirs) != words[at + mine]:
                    continue
                last = at + mine + 1 == len(words)
                if last or self._word(here + theirs + 1) == words[at + mine + 1]:
                    return mine, theirs
        return None

    def _before(self, words: Sequence[str], until: int) -> int:
        """Where in the file `words` begin that end at `until`, -1 if it is not certain."""
        starts = range(until - 1, max(until - _FAR, 0) - 1, -1)
        return self._extent(words, (range(at, until) for at in starts)).start

    def _behind(self, words: Sequence[str], since: int) -> int:
        """Where in the file `words` end that begin at `since`, -1 if it is not certain."""
        ends = range(since + 1, min(since + _FAR, len(self._words)) + 1)
        return self._extent(words, (range(since, at) for at in ends)).stop

    def _extent(self, words: Sequence[str], places: Iterator[range]) -> range:
        """The first of ever longer places in the file that reads as `words`."""
        if 0 < len(words) <= _FEW:
            text = _folded(words)
            for place in places:
                written = _clean(self._joined(place.start, place.stop))
                if written == text:
                    return place
                if len(written) > 2 * len(text) + _LONG:
                    break
        return range(-1, -1)


def _clean(written: str) -> str:
    """`written` as normalised text, folded."""
    return _folded(strip_math(normalise(written)).split())


def _folded(words: Sequence[str]) -> str:
    return unicodedata.normalize("NFKC", "".join(words))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text))
