"""What a procedure makes and what it starts from: formulas and names of chemicals in its text.

Names cover inorganic salts and oxides (`zirconium nitrate`, `iron(III) chloride hexahydrate`)
and the organic reagents usual in materials synthesis. A material that has neither a formula nor
an alloy's designation is named by the paper's title.
"""

import re
from collections import Counter
from collections.abc import Iterable

from reciper_ray import formula

_CATIONS = (
    "lithium|sodium|potassium|rubidium|cesium|caesium|beryllium|magnesium|calcium|strontium|barium"
    "|scandium|yttrium|lanthanum|cerium|praseodymium|neodymium|samarium|europium|gadolinium"
    "|terbium|dysprosium|holmium|erbium|thulium|ytterbium|lutetium|titanium|zirconium|hafnium"
    "|vanadium|niobium|tantalum|chromium|molybdenum|tungsten|manganese|iron|ferric|ferrous|cobalt"
    "|nickel|copper|cupric|silver|gold|zinc|cadmium|mercury|boron|alumini?um|gallium|indium"
    "|thallium|silicon|tin|stannic|stannous|lead|bismuth|antimony|tellurium|platinum|palladium"
    "|ruthenium|rhodium|iridium|ammonium|butyltin|tetraammineplatinum|zirconyl|vanadyl|graphite"
)
_ANIONS = (
    "nitrates?|oxides?|dioxide|trioxide|pentoxide|carbonates?|bicarbonate|acetates?|chlorides?"
    "|dichloride|trichloride|tetrachloride|oxychloride|oxynitrate|bromide|fluoride|iodide|hydroxides?"
    "|sulfates?|sulphates?|sulfide|phosphates?|dihydrogen phosphate|oxalates?|citrate|molybdates?"
    "|tungstate|permanganate|persulfate|borohydride|isopropoxide|tetraisopropoxide|butoxide"
    "|ethoxide|acetylacetonate|titanate|silicate|metavanadate|alkoxides?|hexafluorophosphate"
    "|heptamolybdate|niobate|formate|stearate|silicide|carbide|nitride|powders?"
)
_NAME = re.compile(
    rf"\b(?i:(?:{_CATIONS})\s?(?:\([IV]{{1,3}}\)\s?)?(?:{_ANIONS})"
    r"(?:\s(?:mono|di|tri|tetra|penta|hexa|hepta|octa|nona)?hydrate)?"
    r"|(?:citric|nitric|acetic|oxalic|stearic|hydrochloric|sulfuric|phosphoric|boric|acrylic|oleic"
    r"|tartaric|ascorbic|hydrofluoric|perchloric|formic|lactic|tannic|polyacrylic)\sacid"
    r"(?:\smonohydrate)?"
    r"|ethylenediaminetetraacetic acid|ethylene glycol|polyethylene glycol|urea|glycine|glucose"
    r"|sucrose|dextrin|starch|ammonia|hydrazine(?:\shydrate)?|thiourea|melamine|dicyandiamide"
    r"|dopamine|chitosan|cellulose|polyvinyl (?:alcohol|butyral|pyrrolidone)"
    r"|polyvinylidene fluoride|polyacrylonitrile|polystyrene|polyaniline|polypyrrole|pyrrole"
    r"|aniline|styrene|methyl methacrylate|n-butyl acrylate|acrylamide|caprolactone|terpineol"
    r"|ethyl cellulose|N,N-dimethylformamide|dimethylformamide|dimethylacetamide"
    r"|N-methyl-2-pyrrolidone|tetraethyl orthosilicate|tetrabutyl titanate|titanium butoxide"
    r"|graphene oxide|carbon black|natural graphite|flake graphite|Nafion|ionomer"
    r"|diethylenetriamine|toluene|tetrahydrofuran)\b"
    r"|\b(?:EDTA|PVP|PVA|PVB|PVDF|PEO|PEG|PAN|NMP|DMF|DMAc|TEOS|AIBN|NCAL|Super P)\b"
)
# Formulas that are around in every laboratory: gases, water, common acids and bases.
_LABORATORY = """
    H2O CO2 CO N2 O2 H2 NO NO2 N2O NOx SO2 H2S CH4 C2H4 C2H2 O3 NH3 HCl H2SO4 HNO3 HF NaOH KOH OH
    H2O2 NaCl AgCl C2H5OH CH3OH Cl2 CF4 SF6
"""
_COMMON = {f.canonical for text in _LABORATORY.split() if (f := formula.parse(text))}
_STARTING = re.compile(
    r"starting materials?|raw materials?|precursors?|stoichiometric|purchased|reagents?|Aldrich"
    r"|Sigma|Alfa|Merck|Sinopharm|purity|\b99|analytical grade|\bA\.?R\.?\b|dissolv"
    r"|(?:ball|wet)[- ]mill|were (?:mixed|used|weighed|added)|obtained from|supplied"
    r"|monomers?|elements",
    re.IGNORECASE,
)
_ELEMENTS = re.compile(r"(?<!= )(?<!=)\b(?:[A-Z][a-z]?,\s){2,}(?:and\s)?[A-Z][a-z]?\b")
_MOST_PRECURSORS = 8
_MOST_CHARS = 90

_DESIGNATION = re.compile(
    r"\b(?:(?:AISI|SAE|ASTM|EN|DIN|SUS|SS|JIS)[- ]?[A-Z]?[0-9]{2,5}[A-Za-z]{0,2}"
    r"|Inconel[- ]?[0-9]{3}|Hastelloy[- ]?[A-Z0-9-]{1,6}|[0-9]{3}L"
    r"|(?:[A-Z][a-z]?[–-][0-9]{1,2}){1,2}[A-Z][a-z]?(?:[–-][0-9.]{1,4}[A-Z][a-z]?)*"
    r"|[0-9]{1,2}Cr[–-]?[0-9]?[A-Za-z0-9–-]*|[0-9]{2}CrMo[0-9]{0,2}"
    r"|(?:[A-Z][a-z]?[0-9]{1,2}(?:\.[0-9]+)?){3,})\b"
)
_CLASS = (
    "alloys?|superalloys?|steels?|ceramics?|films?|composites?|membranes?|polymers?|polyurethanes?"
    "|copolymers?|graphene|electrolytes?|cathodes?|anodes?|coatings?|nanoparticles|nanowires"
    "|nanotubes|nanofib(?:er|re)s|catalysts?|glass(?:es)?|electrodes?|hydrogels?|fib(?:er|re)s"
    "|layers?|crystals?|perovskites?|oxides?|textiles?|foams?|aerogels?|inks?|fuel cells?"
    "|supercapacitors?|iron|carbon|silicon|polyimides?|nanocomposites?|batter(?:y|ies)|epitax\\w+"
)
_STOP = (
    "of|for|on|in|the|an?|by|with|using|via|from|and|to|as|its|their|under|at|based|towards?|through"
    "|novel|new|study|studies|effects?|influence|investigation|development|design|toward|between|into"
)
_BEFORE = rf"(?<![\w-])(?:(?!(?:{_STOP})\b)[\w(][\w()/.,+–−-]*\s){{0,4}}"
_PHRASE = re.compile(rf"{_BEFORE}(?:{_CLASS})\b", re.IGNORECASE)
_BY_NAME = re.compile(
    rf"{_BEFORE}(?:(?:super)?alloys?|steels?|(?:co)?polymers?|epoxy|poly\w+|membranes?"
    r"|graphene\b[\w ]{0,8}|glass(?:es)?|rubber)\b",
    re.IGNORECASE,
)
_DEFECT = re.compile(r"\(([0-9.]+)[-+±][δα]\)")


def material(title: str, beginning: str, procedure: str, text: str) -> str:
    """The material that is made.

    It is the formula or designation that the title, the paper's `beginning`, its `procedure` and
    the whole `text` name most, in this order of weight. A phrase of the title is taken instead
    where that says steel or polymer without a formula, or where neither it nor the beginning has
    a formula; "" if there is none either.
    """
    worth: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    # Where, what a mention is worth there, how many mentions count, and which phrase of the title
    # stands in if no material has been named so far.
    places = (
        (title, 20, 2, _BY_NAME),
        (beginning, 5, 3, _PHRASE),
        (procedure, 2, 3, None),
        (text, 1, 6, None),
    )
    for place, weight, most, stand_in in places:
        for name, (written, elements, count) in _named(place).items():
            spelling.setdefault(name, written)
            worth[name] += weight * min(count, most) * min(elements - 1, 3)
        phrase = stand_in.search(title) if stand_in and not worth else None
        if phrase:
            return phrase[0].strip()
    return spelling[min(worth, key=lambda name: (-worth[name], name))] if worth else ""


def _named(text: str) -> dict[str, tuple[str, int, int]]:
    """Materials of `text` by key: as first written, number of elements, number of mentions.

    `SrCoO3−δ` and `SrCoO3` have one key.
    """
    found: dict[str, tuple[str, int, int]] = {}

    def add(key: str, written: str, elements: int) -> None:
        first, _, count = found.get(key, (written, 0, 0))
        found[key] = (first, elements, count + 1)

    for span, f in formula.find(text):
        if len(f.elements) > 1 and f.canonical not in _COMMON and not f.charge:
            key = _DEFECT.sub(r"\1", f.canonical)
            add(key, text[span.start : span.end], len(f.elements))
    for match in _DESIGNATION.finditer(text):
        add(match[0], match[0], 4)
    return found


def precursors(sentences: Iterable[str], product: str) -> tuple[str, ...]:
    """The chemicals that `sentences` about starting materials name, in order, without `product`.

    A name in brackets behind its formula (or the other way round) counts once.
    """
    made = formula.parse(product)
    found: dict[str, str] = {}
    for sentence in sentences:
        if not _STARTING.search(sentence):
            continue
        for start, _, key, text in sorted(_chemicals(sentence), key=lambda item: item[:2]):
            behind_name = sentence[max(0, start - 2) : start].endswith("(") and bool(found)
            if key in found or (made and key == made.canonical) or behind_name:
                continue
            found[key] = text
    kept: list[str] = []
    for text in found.values():
        if len(kept) == _MOST_PRECURSORS or len(", ".join([*kept, text])) > _MOST_CHARS:
            break
        kept.append(text)
    return tuple(kept)


def _chemicals(sentence: str) -> Iterable[tuple[int, int, str, str]]:
    """Start, end, key and text of each chemical; the longer one where two overlap."""
    end = 0
    found: list[tuple[int, int, str, str]] = [
        (span.start, span.end, f.canonical, sentence[span.start : span.end])
        for span, f in formula.find(sentence)
        if not f.charge and f.canonical not in _COMMON
    ]
    found += [(*match.span(), match[0].lower(), match[0]) for match in _NAME.finditer(sentence)]
    for match in _ELEMENTS.finditer(sentence):
        for element in re.finditer(r"[A-Z][a-z]?", match[0]):
            if formula.parse(element[0]):
                start = match.start() + element.start()
                found.append((start, start + len(element[0]), element[0], element[0]))
    for item in sorted(found, key=lambda item: (item[0], -item[1])):
        if item[0] >= end:
            end = item[1]
            yield item
