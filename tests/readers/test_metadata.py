"""DOI, year and licence out of running text."""

import pytest

from reciper_ray.readers.metadata import find_doi, find_licence, find_year


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.3390/e21050448", "10.3390/e21050448"),
        ("Entropy 2019, 21; doi:10.3390/e21050448.", "10.3390/e21050448"),
        ("DOI: 10.1038/ncomms10602 OPEN", "10.1038/ncomms10602"),
        ("(https://doi.org/10.1016/S0168-9002(00)1).", "10.1016/S0168-9002(00)1"),
        ("funder 10.13039/501100001809", ""),
        ("no DOI", ""),
    ],
)
def test_a_doi_is_one_that_is_called_so(text: str, doi: str) -> None:
    assert find_doi(text) == doi


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("Received: 1 May 2018; Accepted: 2 June 2018; Published: 3 January 2019", 2019),
        ("Published online: 23 November 2017", 2017),
        ("Received 7 Jul 2015 | Accepted 4 Jan 2016 | Published 2 Feb 2016", 2016),
        ("Available online 18 November 2020 © 2021 The Author(s)", 2020),
        ("2211-2855/© 2020 The Author(s)", 2020),
        ("Copyright © 2019 Shimaa El-Hadad", 2019),
        ("Accepted: 14 November 2017", 2017),
        ("methods published in 2014 by others", None),
        ("© 2014 Elsevier, cited far behind".rjust(9000), None),
        ("x" * 9000 + "© 2017 by the authors. Licensee MDPI", 2017),
        ("", None),
    ],
)
def test_the_year_is_that_of_publication(text: str, year: int | None) -> None:
    assert find_year(text) == year


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("(http://creativecommons.org/licenses/by/4.0/)", "CC BY 4.0"),
        ("https://creativecommons.org/licenses/by-nc-nd/3.0", "CC BY-NC-ND 3.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0 1.0"),
        ("under a Creative Commons Attribution 4.0 International License", "CC BY 4.0"),
        ("under the Creative Commons Attribution License, which", "CC BY"),
        ("Creative Commons Attribution-NonCommercial 4.0", "CC BY-NC 4.0"),
        ("Creative Commons Attribution-NonCommercial-NoDerivs License", "CC BY-NC-ND"),
        ("CC-BY-SA 3.0", "CC BY-SA 3.0"),
        ("CC BY", "CC BY"),
        ("All rights reserved", ""),
    ],
)
def test_a_licence_is_named_by_link_or_words(text: str, licence: str) -> None:
    assert find_licence(text) == licence
