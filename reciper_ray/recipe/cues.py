"""How likely a sentence describes a step of the paper's own procedure.

A linear score over cues: what the words are about (measuring, results, other people's work),
how the sentence is built, where it stands, whether its neighbours describe steps too. The
weights are those of a logistic regression on hand-made recipes, rounded; 0 is even odds.
"""

import re
from dataclasses import dataclass

from reciper_ray.types import Kind


@dataclass(frozen=True, slots=True)
class Cue:
    """Each match of `pattern`, up to `most` of them, adds `weight`."""

    pattern: re.Pattern[str]
    weight: float
    most: int


def _cue(weight: float, most: int, pattern: str, flags: int = re.IGNORECASE) -> Cue:
    return Cue(re.compile(rf"\b(?:{pattern})", flags), weight, most)


_CUES = (
    # Measuring, observing and calculating.
    _cue(
        -0.9, 2,
        r"(?:measur\w+|record(?:ed|ing)|test(?:s|ed|ing)?|character\w+|analy[sz]\w+|examin\w+"
        r"|monitor\w+|determin\w+|evaluat\w+|investigat\w+|calculat\w+|simulat\w+|modell?\w*"
        r"|estimat\w+|collected|acquired|observ\w+|detected|probed|scann\w+|assess\w+|calibrat\w+)\b",
    ),
    _cue(
        -1.0, 2,
        r"XRD|SEM|TEM|XPS|DSC|TGA?|EIS|FTIR|Raman|EBSD|EDX|EDS|AFM|NMR|BET|UV|DMA"
        r"|[Dd]iffract\w+|[Ss]pectr\w+|[Mm]icroscop\w+|[Pp]otentiostat|[Gg]alvanostat|[Ii]mpedance"
        r"|[Dd]ilatomet\w+|[Tt]hermogravim\w+|[Tt]ensile|[Hh]ardness|Vickers|Cu\s?K",
        0,
    ),
    # Using what was made.
    _cue(
        -0.6, 2,
        r"(?:mA|A\s?cm|V|mV|kHz|MHz|OCV|open[- ]circuit|polari[sz]ation|current density"
        r"|power densit\w+|voltage|cycl(?:es?|ing|ed)|discharge|capacity|conductivity|stability"
        r"|durability|degradation|performance|operat\w+|long[- ]term)\b",
    ),
    # Reporting and explaining results.
    _cue(
        -0.3, 3,
        r"(?:show(?:s|ed|n)?|exhibit\w*|indicat\w+|reveal\w*|suggest\w*|demonstrat\w+|display\w*"
        r"|increas\w+|decreas\w+|higher|lower|larger|smaller|peaks?|due to|because|attribut\w+"
        r"|compar\w+|confirm\w*|correspond\w*|consist\w*|achiev\w+|reach(?:es|ed)|improv\w+|found"
        r"|seen|appear\w*|enhanc\w+|lead\w*|result\w*|than|effect|influence|maxim\w+|minim\w+"
        r"|respectively)\b",
    ),
    _cue(-0.9, 1, r"(?:Figs?\.?|Figures?|Tables?|Eqs?\.|Equation|Scheme)\s?S?\(?[0-9]"),
    # Generalities, plans, other people's work.
    _cue(
        -0.9, 2,
        r"(?:can|could|may|might|would|should|must|will|is expected|possible|typically|usually"
        r"|generally|often|commonly)\b",
    ),
    _cue(
        -1.2, 1,
        r"(?:et al|reported|literature|previous(?:ly)?|other (?:groups|authors|researchers)"
        r"|studies|study|authors|researchers|group)\b",
    ),
    # The present tense, but for procedures told in it (`are annealed`).
    _cue(
        -1.1, 2,
        r"(?:(?:is|are)(?!\s(?:\w+ly\s|then\s|first\s)?"
        r"(?:\w+ed|electrospun|spun|kept|held|grown|ground|cast)\b)|has|have)\b",
    ),
    # Something was done to something.
    _cue(
        0.4, 2,
        r"(?:was|were)\b(?:\s\w+){0,2}?\s(?:\w+ed|\w+un|ground|held|kept|left|put|\w+wn|cast|\w+en)\b",
    ),
    _cue(
        0.3, 3,
        r"(?:powders?|pellets?|solutions?|mixtures?|slurr(?:y|ies)|inks?|pastes?|gels?|precursors?"
        r"|suspensions?|films?|ingots?|alloys?|samples?|specimens?|substrates?|crucible|furnace"
        r"|oven|mould|mold|die|ethanol|water|deionized|stirring|membranes?|electrodes?|layers?"
        r"|disks?|discs?|tapes?|precipitates?|autoclave|hot ?plate|vessel|flask|beaker)\b",
    ),
)  # fmt: skip

_BIAS = -3.0
_OWN_PROCEDURE = 1.2
_ELSEWHERE = -1.8
_FLOAT = -1.5
_MAKING, _MOST_MAKING = 0.7, 2
_TIME, _TIME_AND_TEMPERATURE, _NEITHER = 1.1, 0.8, -0.5
_PER_CHARACTER, _LONGEST = -0.002, 600
_NEIGHBOUR, _MOST_NEIGHBOURS = 0.4, 4

_PROCEDURE_HEADING = re.compile(
    r"experiment|method|synthes|prepar|fabricat|procedur|material|processing", re.IGNORECASE
)
_OTHER_HEADING = re.compile(
    r"result|discuss|introduc|conclu|character|measure|abstract|referenc|testing|analysis"
    r"|performance|simulat|model|supplement|acknowl",
    re.IGNORECASE,
)


def wording(sentence: str) -> float:
    """What the words of `sentence` add to its score."""
    length = _PER_CHARACTER * min(len(sentence), _LONGEST)
    return length + sum(
        cue.weight * min(sum(1 for _ in cue.pattern.finditer(sentence)), cue.most) for cue in _CUES
    )


def stating(making: int, has_temperature: bool, has_time: bool) -> float:
    """What its operations (`making` telling ones) and conditions add."""
    score = _MAKING * min(making, _MOST_MAKING)
    if has_time:
        score += _TIME + (_TIME_AND_TEMPERATURE if has_temperature else 0.0)
    elif not has_temperature:
        score += _NEITHER
    return score


def is_procedure(heading: str) -> bool:
    """Whether a heading path (`A > B`) is that of a section on how things were made."""
    return bool(_PROCEDURE_HEADING.search(heading)) and not _is_other(heading)


def _is_other(heading: str) -> bool:
    return bool(_OTHER_HEADING.search(heading.rsplit(">", 1)[-1]))


def place(heading: str, kind: Kind, has_procedure: bool) -> float:
    """What the heading path and kind of its paragraph add.

    Sections on other things count against it only in a paper that `has_procedure` sections:
    where the reader found none, the procedure stands under some other heading.
    """
    score = _FLOAT if kind in (Kind.CAPTION, Kind.TABLE) else 0.0
    if is_procedure(heading):
        return score + _OWN_PROCEDURE
    elsewhere = has_procedure and (kind is Kind.ABSTRACT or _is_other(heading))
    return score + (_ELSEWHERE if elsewhere else 0.0)


def company(neighbours: int) -> float:
    """What `neighbours` add, those of the nearby sentences that may be steps too; and the bias."""
    return _BIAS + _NEIGHBOUR * min(neighbours, _MOST_NEIGHBOURS)
