"""Names of synthesis and processing methods, found in a paper's procedure."""

import re
from collections import Counter
from collections.abc import Iterable

_NAMES = """
    solid-state reaction | solid-state route | solid-state synthesis | solid state method | sol-gel
    | Pechini | EDTA-citrate | EDTA-citric acid | citrate method | citric acid method
    | glycine-nitrate | glycine nitrate | solution combustion | auto-combustion | self-combustion
    | combustion synthesis | gel combustion | co-precipitation | precipitation method
    | hydrothermal | solvothermal | microwave-assisted | sonochemical | molten salt | flux method
    | reverse micelle | template method | hard template | polyol method | polyol process
    | hot injection | spray pyrolysis
    | spray drying | freeze drying | freeze casting | ball milling | mechanical alloying
    | mechanochemical | arc melting | vacuum arc remelting | induction melting | melt spinning
    | levitation melting | die casting | sand casting | squeeze casting | investment casting
    | suction casting | powder metallurgy | spark plasma sintering | hot pressing
    | hot isostatic pressing | vacuum hot pressing | two-step sintering | flash sintering
    | microwave sintering | selective laser melting | laser powder bed fusion
    | selective laser sintering | electron beam melting | directed energy deposition
    | laser cladding | laser metal deposition | additive manufacturing | 3D printing
    | fused deposition modeling | stereolithography | friction stir processing
    | friction stir welding | laser welding | hot rolling | cold rolling | hot forging | forging
    | hot extrusion | extrusion | injection molding | injection moulding | compression molding
    | equal channel angular pressing | high pressure torsion | austempering | carburizing
    | nitriding | quenching and tempering | magnetron sputtering | reactive sputtering | sputtering
    | pulsed laser deposition | chemical vapor deposition | chemical vapour deposition
    | atomic layer deposition | molecular beam epitaxy | hydride vapor phase epitaxy
    | physical vapor transport | thermal evaporation | electron beam evaporation
    | plasma spraying | thermal spraying | aerosol deposition | electrophoretic deposition
    | electrodeposition | electroplating | electroless plating | chemical bath deposition
    | tape casting | slip casting | slurry casting | gel casting | screen printing
    | inkjet printing | doctor blade | blade coating | spin coating | dip coating | spray coating
    | drop casting | slot-die coating | solution casting | solvent casting | phase inversion
    | layer-by-layer | electrospinning | wet spinning | melt blending | melt mixing
    | infiltration | impregnation | wet impregnation | ion exchange | decal transfer
    | free radical polymerization | in situ polymerization | emulsion polymerization | ATRP
    | RAFT | anionic polymerization | polycondensation | thermal imidization | crosslinking
    | direct laser writing | photolithography | mechanical exfoliation | liquid-phase exfoliation
    | Hummers | chemical reduction | carbothermal reduction | pyrolysis | carbonization
    | chlorination | anodization | MOCVD | MOVPE | HVPE | PECVD | AACVD | CVD | ALD | MBE | PLD
"""
_LETTER = {"z": "[sz]", "-": "[-‐–—\\s]?", " ": "[-‐–—\\s]"}
_MOST = 3


def _pattern(name: str) -> str:
    written = "".join(_LETTER.get(char, re.escape(char)) for char in name)
    return written if name.isupper() else f"(?i:{written})"


# Longer names first, so that CVD is not read in AACVD's place.
_BY_LENGTH = sorted((" ".join(name.split()) for name in _NAMES.split("|")), key=len, reverse=True)
_METHOD = re.compile(rf"\b(?:{'|'.join(map(_pattern, _BY_LENGTH))})(?![A-Za-z])")


def find(texts: Iterable[tuple[str, int]]) -> str:
    """The methods that the weighted `texts` name most, at most three, as first written.

    Each text is worth its weight once for each method it names; a method with less than a third
    of the first one's worth is left out.
    """
    worth: Counter[str] = Counter()
    written: dict[str, str] = {}
    for text, weight in texts:
        named = {_key(match[0]): match[0] for match in _METHOD.finditer(text)}
        for key, name in named.items():
            written.setdefault(key, " ".join(name.split()))
            worth[key] += weight
    best = sorted(worth, key=lambda key: (-worth[key], key))[:_MOST]
    return ", ".join(written[key] for key in best if 3 * worth[key] >= worth[best[0]])


def _key(name: str) -> str:
    """One key for the spellings of a method."""
    return re.sub(r"[-‐–—\s]+", " ", name.lower()).replace("z", "s")
