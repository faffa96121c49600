"""Words that the end of a line parted."""

import re

_HYPHENATED = re.compile(r"\b([A-Za-z][a-z]+)-\s([a-z]+)\b")
_WORD = re.compile(r"[a-z]+")
_AFTER_HANGING_HYPHEN = {"and", "or", "to", "but", "nor", "than", "as", "in", "of"}


def join_hyphenated(text: str) -> str:
    """`text` with `effi- ciency` as `efficiency`.

    Certain means that the whole word stands elsewhere in the text, or neither part does.
    """
    whole = set(_WORD.findall(_HYPHENATED.sub(" ", text).lower()))

    def join(match: re.Match[str]) -> str:
        left, right = match[1].lower(), match[2]
        if right in _AFTER_HANGING_HYPHEN:
            return match[0]
        if left + right in whole or not (left in whole or right in whole):
            return match[1] + right
        return match[0]

    return _HYPHENATED.sub(join, text)
