"""What a paper says about itself in passing: DOI, year, licence, from running text or links."""

import re

_DOI = re.compile(r"\b10\.\d{4,9}/[-._;()/:A-Za-z0-9]{2,200}")
_PUBLISHED = re.compile(
    r"(?:Published(?: online)?|Available online|Accepted)\s*:?[^.;\n]{0,24}?\b((?:19|20)\d{2})\b"
)
_COPYRIGHT = re.compile(r"(?:©|\(c\)|Copyright)[^.\n]{0,60}?\b((?:19|20)\d{2})\b", re.IGNORECASE)
_DEED = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)(?:/(\d\.\d))?", re.I)
_SPELT = re.compile(
    r"(?:Creative Commons Attribution|\bCC[- ]BY)"
    r"(?P<terms>(?:[- ](?:Non-?Commercial|No-?Deriv\w*|Share-?Alike|NC|ND|SA)\b){0,2})"
    r"(?:[^.;]{0,40}?(?P<version>[234]\.0))?",
    re.IGNORECASE,
)


def find_doi(text: str) -> str:
    """The first DOI in `text`, "" for none."""
    match = _DOI.search(text)
    return match[0].rstrip(".,;:)(") if match else ""


def find_year(text: str) -> int | None:
    """The year `text` says it was published in, else that of its copyright line."""
    match = _PUBLISHED.search(text) or _COPYRIGHT.search(text)
    return int(match[1]) if match else None


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
