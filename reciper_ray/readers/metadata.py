"""What a paper says about itself in passing: DOI, year, licence, from running text or links."""

import re

_DOI = re.compile(
    r"(?:doi\.org/|doi\s*:?\s*|^)(10\.\d{4,9}/[-._;()/:A-Za-z0-9]{1,200})", re.IGNORECASE
)
_ARXIV = re.compile(
    r"arxiv\s*[:./]\s*(?:org/)?(?:(?:abs|pdf|html)/)?"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?",
    re.IGNORECASE,
)
_YEAR = r"((?:19|20)\d{2})\b"
_DAY = r"\s*:?\s*(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]{2,8}\.? )?(?:\d{1,2}, )?"
_YEARS = tuple(
    re.compile(said + _YEAR)
    for said in (
        r"(?:[Pp]ublished|PUBLISHED)(?: online)?" + _DAY,
        r"[Aa]vailable online" + _DAY,
        r"(?:©|\([cC]\)|Copyright) ?(?:©? ?The [Aa]uthors?(?:\(s\))?,? )?",
        r"(?:[Aa]ccepted|ACCEPTED)" + _DAY,
    )
)
_YEAR_AT_END = re.compile(rf"© ?{_YEAR} by the authors")
_START, _END = 6000, 3000
_DEED = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)(?:/(\d\.\d))?", re.I)
_SPELT = re.compile(
    r"(?:Creative Commons Attribution|\bCC[- ]BY)"
    r"(?P<terms>(?:[- ](?:Non-?Commercial|No-?Deriv\w*|Share-?Alike|NC|ND|SA)\b){0,2})"
    r"(?:[^.;]{0,40}?(?P<version>[234]\.0))?",
    re.IGNORECASE,
)


def find_doi(text: str) -> str:
    """The first DOI that `text` calls one or begins with, "" for none."""
    match = _DOI.search(text)
    return match[1].rstrip(".,;:)(") if match else ""


def find_arxiv_id(text: str) -> str:
    """The first arXiv id that `text` calls one, without its version, "" for none."""
    match = _ARXIV.search(text)
    return match[1].lower() if match else ""


def find_year(text: str) -> int | None:
    """The year in which the paper `text` says, at its start or end, that it was published."""
    found = [year.search(text, 0, _START) for year in _YEARS]
    found.append(_YEAR_AT_END.search(text, max(0, len(text) - _END)))
    return next((int(match[1]) for match in found if match), None)


def find_licence(text: str) -> str:
    """The Creative Commons licence that `text` links to or names, as `CC BY 4.0`; "" for none."""
    deed = _DEED.search(text)
    if deed:
        name = "CC0" if deed[1].lower() == "publicdomain" else f"CC {deed[2].upper()}"
        return f"{name} {deed[3]}" if deed[3] else name
    spelt = _SPELT.search(text)
    if not spelt:
        return ""
    terms = "".join(f"-{_term(term)}" for term in re.split(r"[- ](?=[NS])", spelt["terms"]) if term)
    return f"CC BY{terms} {spelt['version'] or ''}".strip()


def _term(spelt: str) -> str:
    letters = spelt.lower().replace("-", "")
    for long, short in (("noncommercial", "NC"), ("noderiv", "ND"), ("sharealike", "SA")):
        if letters.startswith(long):
            return short
    return letters.upper()
