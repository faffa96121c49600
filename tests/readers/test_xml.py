"""XML that attacks its reader."""

import time
from pathlib import Path

import pytest

from reciper_ray.errors import UnreadableInput
from reciper_ray.readers import read, xml
from reciper_ray.types import Paper

ARTICLE = "<article><body><p>{}</p></body></article>"


def text_of(xml: str) -> str:
    (paper,) = read("a.xml", xml.encode())
    assert isinstance(paper, Paper)
    return paper.text


@pytest.mark.parametrize("place", ["&l9;", "<bold x='&l9;'>a</bold>"])
def test_an_entity_bomb_is_refused_at_once(place: str) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE article [<!ENTITY l0 "lol">{levels}]>' + ARTICLE.format(place)
    started = time.process_time()
    with pytest.raises(UnreadableInput, match=r"broken XML at line 1, .*: Maximum entity"):
        read("a.xml", bomb.encode())
    assert time.process_time() - started < 1


def test_external_entities_and_dtds_are_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    entity = f'<!DOCTYPE article [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    assert text_of(entity + ARTICLE.format("a &x; b")) == "a b"
    parameter = f'<!DOCTYPE article [<!ENTITY % p SYSTEM "{secret.as_uri()}"> %p; ]>'
    assert text_of(parameter + ARTICLE.format("a b")) == "a b"


def test_internal_entities_are_not_expanded() -> None:
    assert text_of('<!DOCTYPE article [<!ENTITY x "y">]>' + ARTICLE.format("a &x; b")) == "a b"


def test_nesting_has_a_bound() -> None:
    assert text_of(ARTICLE.format("<bold>" * 200 + "x" + "</bold>" * 200)) == "x"
    with pytest.raises(UnreadableInput, match="depth"):
        read("a.xml", ARTICLE.format("<bold>" * 5000 + "x" + "</bold>" * 5000).encode())


def test_the_declared_encoding_is_used() -> None:
    document = '<?xml version="1.0" encoding="iso-8859-1"?>' + ARTICLE.format("café")
    (paper,) = read("a.xml", document.encode("latin-1"))
    assert isinstance(paper, Paper)
    assert paper.text == "café"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("<article>", "article"),
        ('<?xml version="1.0"?><!-- <b> -->\n<!DOCTYPE a [<!ENTITY x "y">]>\n<a:b c="">', "a:b"),
        ("# not XML", ""),
        ("<!-- never closed " * 1000, ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_root_is_found_behind_the_prolog(head: str, name: str) -> None:
    assert xml.root_name(head) == name
