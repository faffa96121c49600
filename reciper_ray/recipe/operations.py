"""Words that name an operation of a procedure: where they stand in a sentence, how telling.

The lexicon covers ceramics, metals, polymers, inks and electrodes, wet chemistry and vapour
deposition. Measurement and use (measured, tested, cycled) are no operations.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation word at `start:end` of a sentence.

    `making` tells words that hardly stand outside procedures (calcined) from everyday ones
    (held); `verbal` tells what was done (was calcined, calcining) from a noun or adjective.
    """

    text: str
    start: int
    end: int
    making: bool
    verbal: bool


# Stems with the endings they take; what follows the colon of _INFLECTED is tried in order.
_MAKING = r"""
calcin(?:ed|ing|ation|ations|e|es)|sinter(?:ed|ing|s)?|anneal(?:ed|ing|s)?|co-?fir(?:ed|ing)
|(?<!con)fir(?:ed|ing)(?![\w-]*\s+(?:rate|order|angle))|bak(?:ed|ing|e)|pyroly[sz](?:ed|ing|is|ation)
|carboni[sz](?:ed|ing|ation)|graphiti[sz](?:ed|ing|ation)|debind(?:ed|ing)?|debound|burn(?:ed|t)?[- ]?out
|(?:ball|bead|jet|attrition|planetary|roller|wet|dry|attritor|cryo)[- ]?(?:ball[- ]?)?(?:mill(?:ed|ing)?|ground|grinding)
|mill(?:ed|ing)|re-?ground|ground(?=\s+(?:and|in|with|for|by|to|into|again|thoroughly|together|using|well))
|grinding|pulveri[sz](?:ed|ing)|mechanical(?:ly)?[- ]alloy(?:ed|ing)|homogeni[sz](?:ed|ing|ation)
|austeniti[sz](?:ed|ing|ation)|normali[sz]ing|temper(?:ed|ing)|quench(?:ed|ing)|carburi[sz](?:ed|ing|ation)
|nitrid(?:ed|ing)|spheroidi[sz](?:ed|ing|ation)|solution(?:[- ]heat)?[- ](?:treat(?:ed|ing|ment)|anneal(?:ed|ing))
|solutioni[sz](?:ed|ing)|heat[- ]?treat(?:ed|ing|ment|ments)|heat[- ]treated|stress[- ]reli(?:ef|eved|eving)
|hot[- ](?:rolled|rolling|pressed|pressing|forged|forging|extruded|extrusion|deformed|isostatic)
|cold[- ](?:rolled|rolling|drawn|pressed|pressing)|forg(?:ed|ing)|roll(?:ed|ing)|extru(?:ded|sion|ding)
|(?:tape|slip|slurry|drop|die|solution|gel|investment)[- ]?cast(?:ed|ing)?|cast(?=\s+(?:in|into|on|onto|and|at|under|by|to|using))
|casting|(?:arc|induction|re|levitation)[- ]?melt(?:ed|ing)|melt(?:ed|ing)(?!\s+(?:point|temperature|peak|range))
|solidifi(?:ed|cation)|(?:hot|cold|uniaxial(?:ly)?|isostatic(?:ally)?|die|dry|warm)?[- ]?press(?:ed|ing)
|pelleti[sz](?:ed|ing)|compacted|spark plasma sintering|(?:electro|e-?beam )?deposit(?:ed|ing|ion)
|(?:co-?|magnetron )?sputter(?:ed|ing)|evaporat(?:ed|ing|ion)|grown|growth|spin[- ]?(?:coat(?:ed|ing)|cast)
|dip[- ]?coat(?:ed|ing)|(?:spray|blade|drop|bar|powder)[- ]?(?:coat(?:ed|ing)|dried|drying)|spray(?:ed|ing)
|coat(?:ed|ing)(?=\s+(?:on|onto|with|by|and|at|in|using))|brush[- ]?paint(?:ed|ing)|paint(?:ed|ing)|screen[- ]?print(?:ed|ing)|print(?:ed|ing)
|electrospinning|electro-?spun|infiltrat(?:ed|ing|ion)|impregnat(?:ed|ing|ion)|soak(?:ed|ing)
|immers(?:ed|ing|ion)|dipp(?:ed|ing)|dissolv(?:ed|ing)|stirr(?:ed|ing)|(?:re-?|ad)?mix(?:ed|ing)|blend(?:ed|ing)|knead(?:ed|ing)
|add(?:ed|ing)|(?:re-?)?dispers(?:ed|ing)|(?:ultra)?sonicat(?:ed|ing|ion)|ultrasonica(?:lly|tion)
|ultrasonic (?:treatment|bath|agitation|mixing|stirring)|centrifug(?:ed|ing|ation)|filter(?:ed|ing)|filtration
|wash(?:ed|ing)|rins(?:ed|ing)|clean(?:ed|ing)|(?:air|oven|freeze|vacuum|spray)?-?(?:dried|drying|dry(?=\s+(?:at|in|for|overnight|under)))
|lyophili[sz](?:ed|ing|ation)|desiccat(?:ed|ing|ion)|evacuat(?:ed|ing)|degas(?:sed|sing|ed)?|outgas(?:sed|sing)|purg(?:ed|ing)
|reflux(?:ed|ing)?|react(?:ed|ing)|polymeri[sz](?:ed|ing|ation)|imidi[sz](?:ed|ing|ation)|(?:post-?|pre-?)?cur(?:ed|ing)
|cross-?link(?:ed|ing)|vulcani[sz](?:ed|ing|ation)|harden(?:ed|ing)|hydrothermal(?:ly)?|solvothermal(?:ly)?|autoclav(?:ed|ing)
|(?:co-?)?precipitat(?:ed|ing|ion)|gelled|gelation|gelatini[sz]ed|etch(?:ed|ing)|oxidi[sz](?:ed|ing)|oxidation treatment|nitridation
|chlorinat(?:ed|ing|ion)|sulfuri[sz](?:ed|ing|ation)|seleni[sz](?:ed|ing|ation)|irradiat(?:ed|ing|ion)
|decompos(?:ed|ing)|combust(?:ed|ing|ion)|ignit(?:ed|ing)|ash(?:ed|ing)|crystalli[sz](?:ed|ing)|passivat(?:ed|ing|ion)|implant(?:ed|ation)
|laminat(?:ed|ing|ion)|weld(?:ed|ing)|braz(?:ed|ing)|decal[- ]transfer(?:red)?|ion[- ]exchang(?:ed|ing|e)|intercalat(?:ed|ion)
|synthesi[sz](?:ed|ing)|prepared|fabricated|produced|activated|exfoliat(?:ed|ion)|dialy[sz](?:ed|is)|hydroly[sz](?:ed|ing|is)
|precur(?:ed|ing)|imprint(?:ed|ing)|engrav(?:ed|ing)|digest(?:ed|ing)|peel(?:ed|ing)|swollen|protonat(?:ed|ion)|lithiat(?:ed|ion)
|thermal(?:ly)? (?:treat(?:ed|ment)|anneal(?:ed|ing))|consolidat(?:ed|ion)|densif(?:ied|ication)
"""
_EVERYDAY = r"""
(?:pre-?|re-?)?heat(?:ed|ing)|held|hold(?:ing)?|kept|keeping|maintain(?:ed|ing)|cool(?:ed|ing)|treat(?:ed|ing|ment)
|pre-?treat(?:ed|ing|ment)|reduc(?:ed|ing|tion)(?=\s+(?:in|at|under|with|of|by|for|process|treatment|step|temperature))|expos(?:ed|ing)|transferr(?:ed|ing)
|pour(?:ed|ing)|plac(?:ed|ing)|put|left|load(?:ed|ing)|inject(?:ed|ing)|stor(?:ed|ing)|incubat(?:ed|ing)|equilibrat(?:ed|ing)
|condition(?:ed|ing)|remov(?:ed|ing)|ramp(?:ed|ing)|rais(?:ed|ing)|subject(?:ed)?(?=\s+to)|process(?:ed|ing)|perform(?:ed)?|carried out
|conducted|obtained|formed|deformed|compressed|tested(?=\s+at\s)|retain(?:ed)?|agitat(?:ed|ing)|shak(?:en|ing)|bubbl(?:ed|ing)|flow(?:ed|ing)
|appl(?:ied|ying)|joined|attached|bonded|sealed|age(?:d|ing)|aging|drawn|rotat(?:ed|ing)|set to|fed
"""
_PREFIX = r"(?:(?:pre|re|co|post|de)-?)?"


def _alternatives(words: str) -> str:
    return "".join(line.strip() for line in words.strip().splitlines())


_OPERATION = re.compile(
    rf"\b(?:(?P<making>{_PREFIX}(?:{_alternatives(_MAKING)}))|(?P<everyday>{_alternatives(_EVERYDAY)}))"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
_VERBAL = re.compile(r"(?:ed|ing|ground|held|kept|left|put|grown|spun|drawn|cast|frozen|fed)$", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\s+(?:temperature|time|process|sample|samples|powder|pellet|step|condition)")


def find(sentence: str) -> list[Operation]:
    """The operations of `sentence` by place."""
    return [
        Operation(
            match[0],
            match.start(),
            match.end(),
            match["making"] is not None,
            _VERBAL.search(match[0]) is not None,
        )
        for match in _OPERATION.finditer(sentence)
    ]
