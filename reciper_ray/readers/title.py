"""The title at the start of plain text, where nothing marks its end."""

import re

from reciper_ray.text import squeeze

_HEAD = 1500
_LONGEST = 320
_SHORTEST = 15
_FALLBACK = 150
_LABEL = re.compile(
    r"(?:^|\s)(?:Full [Pp]aper|Full [Ll]ength [Aa]rticle|(?:Research |Original |Review )?"
    r"(?:Article|ARTICLE)|Communication|OPEN(?: ACCESS| ARTICLE)?)\s+(?=[A-Z0-9(])"
)
_LABELLED = 320
_END = re.compile(
    r"\n|\s{2,}(?=\S)|\s(?=Abstract\b|ABSTRACT\b|A R T I C L E|A B S T R A C T|H I G H L I G H T"
    r"|g r a p h i c a l|Keywords\b|To cite this|Cite [Tt]his|Academic Editor|Received\b)"
    r"|(?=https?://)|(?<=[a-z)]{2})\. (?=[A-Z])|\s(?=[A-Z][\w.-]* [A-Z][\w-]+,[*†\d])"
)


def split_title(text: str) -> tuple[str, str]:
    """The title that `text` opens with, and the rest.

    In turn: a beginning that stands twice in a row; up to the first line break, gap, abstract or
    author list; the first 150 characters, which then stay part of the rest. "" if there is none.
    """
    start = len(text) - len(text.lstrip())
    for label in _LABEL.finditer(text, start, start + _LABELLED):
        start = label.end()
    repeated = _repeated(text[start : start + _HEAD])
    if repeated:
        first, both = repeated
        return squeeze(text[start : start + first]), text[start + both :]
    for end in _END.finditer(text, start + _SHORTEST, start + _LONGEST):
        return squeeze(text[start : end.start()]), text[end.end() :]
    if len(text) - start <= _LONGEST:
        return squeeze(text[start:]), ""
    return squeeze(text[start : start + _FALLBACK].rpartition(" ")[0]), text[start:]


def _repeated(head: str) -> tuple[int, int] | None:
    """Where the first and the second copy of the beginning of `head` end, None for no copy.

    Copies may differ in white space and case.
    """
    at = [i for i, character in enumerate(head) if not character.isspace()]
    dense = "".join(head[i].casefold()[:1] for i in at)
    opening = dense[:_SHORTEST]
    length = dense.find(opening, _SHORTEST, _LONGEST + len(opening))
    if length < 0 or not dense.startswith(dense[:length], length):
        return None
    return at[length], at[2 * length] if 2 * length < len(at) else len(head)
