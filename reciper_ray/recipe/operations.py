"""Words that name an operation of a procedure: where they stand in a sentence, how telling.

The lexicon covers ceramics, metals, polymers, inks and electrodes, wet chemistry and vapour
deposition. Measurement and use (measured, tested, cycled) are no operations.
"""

import re
from dataclasses import dataclass
from enum import IntEnum


class Tells(IntEnum):
    """How much an operation's word tells about what was done."""

    LITTLE = 0  # held, kept, performed
    WHAT_FOR = 1  # prepared, fabricated
    WHAT = 2  # calcined, ball-milled


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation word, with its modifier (`ball milling`), at `start:end` of a sentence."""

    text: str
    start: int
    end: int
    tells: Tells


# Verbs in the base form; `+` doubles the last consonant.
_VERBS = {
    Tells.WHAT: """
    calcine sinter anneal fire bake pyrolyse carbonise graphitise debind mill grind pulverise
    homogenise austenitise temper quench carburise nitride spheroidise solutionise roll forge
    extrude cast press melt solidify pelletise compact deposit electrodeposit sputter evaporate coat
    spray paint print electrospin+ infiltrate impregnate soak immerse dip+ dissolve stir+ mix blend
    knead add disperse sonicate ultrasonicate centrifuge filter wash rinse clean dry lyophilise
    desiccate evacuate degas+ outgas+ purge flush reflux react polymerise imidise cure crosslink
    vulcanise harden autoclave precipitate gel+ etch oxidise chlorinate sulfurise selenise irradiate
    decompose combust ignite crystallise recrystallise passivate implant laminate weld braze
    exfoliate hydrolyse imprint engrave digest lithiate consolidate densify stabilise dilute swell
    peptise nucleate saturate leach electroplate plate neutralise titrate acidify functionalise
    inoculate emulsify normalise
    """,
    Tells.WHAT_FOR: "synthesise prepare fabricate produce obtain assemble machine process",
    Tells.LITTLE: """
    heat hold keep maintain cool treat reduce expose transfer+ pour place load inject store incubate
    equilibrate condition activate remove ramp raise subject perform conduct deform compress retain
    agitate shake bubble apply join attach bond seal age rotate introduce set leave start
    strain rest fix pump feed insert warm exchange carry charge vaporise undergo
    """,
}
_OTHERS = {
    Tells.WHAT: """
    ground spun grown grow cast frozen molten swollen calcination homogenisation pyrolysis
    carbonisation deposition evaporation growth filtration centrifugation sonication infiltration
    impregnation immersion gelation polymerisation imidisation oxidation nitridation precipitation
    solidification extrusion austenitisation combustion pelletisation electrodeposition chlorination
    carburisation hydrothermal solvothermal coprecipitation dissolution electrospun
    hydrothermally solvothermally
    """,
    Tells.WHAT_FOR: "",
    Tells.LITTLE: """
    held kept left put fed drawn set shaken underwent bound treatment reduction exposure
    conditioning ageing activation holding dwell
    """,
}
# Words before an operation that belong to it; these make a plain treatment telling.
_MODIFIERS = frozenset(
    re.findall(
        r"\w+",
        """
        ball bead jet attrition roller planetary wet dry hot cold spin dip spray blade tape slip
        drop die arc induction vacuum freeze air oven screen brush inkjet probe bath heat thermal
        solution stress mechanical ion decal bar doctor melt solvent gel slurry powder plasma
        chemical magnetron steam water oil furnace friction laser isostatic uniaxial mechanically
        """,
    )
)
_PREFIXES = ("pre", "re", "co", "post", "hot", "cold", "ball", "spin", "dip", "over", "self", "de")
_WORD = re.compile(r"[A-Za-z]+")
_SPELT_WITH_S = re.compile(r"([iy])s(e|ed|ing|ation)$")


def find(sentence: str) -> list[Operation]:
    """The operations of `sentence` by place."""
    found: list[Operation] = []
    words = list(_WORD.finditer(sentence))
    for at, word in enumerate(words):
        before = words[at - 1] if at else None
        tells = _tells(word[0].lower(), before is not None and before[0].lower() == "to")
        if tells is None:
            continue
        start, end = word.span()
        first = at
        while first and _belongs(words[first - 1], sentence[words[first - 1].end() : start]):
            first -= 1
            start = words[first].start()
        if start < word.start() and words[first][0].lower() in _MODIFIERS:
            tells = Tells.WHAT
        if sentence.startswith(" out", end):
            end += len(" out")
        if found and start < found[-1].end:
            continue
        found.append(Operation(sentence[start:end], start, end, tells))
    return found


def _tells(word: str, after_to: bool) -> Tells | None:
    """What `word` tells, None if it names no operation."""
    tells = _WORDS.get(word)
    if tells is None and after_to:
        tells = _BASES.get(word)
    if tells is None and word.endswith(("ed", "ing", "ion")):
        for prefix in _PREFIXES:
            if word.startswith(prefix) and word[len(prefix) :] in _WORDS:
                return _WORDS[word[len(prefix) :]]
    return tells


def _belongs(word: re.Match[str], gap: str) -> bool:
    """Whether `word` before `gap` modifies the operation behind it: `ball-`, `re-`, `heat `."""
    lower = word[0].lower()
    if gap == "-" and lower in _PREFIXES:
        return True
    return gap in ("-", " ", "‐", "–") and lower in _MODIFIERS


def _forms(verb: str) -> tuple[str, str]:
    """Past and -ing form of a base form in the notation of `_VERBS`."""
    doubled, verb = verb.endswith("+"), verb.rstrip("+")
    stem = verb[:-1] if verb.endswith("e") else verb + verb[-1] if doubled else verb
    past = verb[:-1] + "ied" if verb.endswith("y") and verb[-2] not in "aeo" else stem + "ed"
    return past, stem + "ing"


def _lexicon() -> tuple[dict[str, Tells], dict[str, Tells]]:
    """What inflected forms and nouns tell, and what base forms do, in both spellings of -ise."""
    words: dict[str, Tells] = {}
    bases: dict[str, Tells] = {}
    for tells in Tells:
        for verb in _VERBS[tells].split():
            bases[verb.rstrip("+")] = tells
            words.update(dict.fromkeys(_forms(verb), tells))
        words.update(dict.fromkeys(_OTHERS[tells].split(), tells))
    for table in (words, bases):
        for word in list(table):
            table.setdefault(_SPELT_WITH_S.sub(r"\1z\2", word), table[word])
    return words, bases


_WORDS, _BASES = _lexicon()
