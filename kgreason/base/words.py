"""Words: which words of a text name something, so that two texts can be held together."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHORTEST: Final = 3  # letters
# Words of English that name nothing, and those that every question about failures has.
_EMPTY_TEXT: Final = """
about above after all also and any are because been before being below between both but can cause
caused causes cannot could did does doing down each every fail failed failing fails failure
failures few for from had has have having her here his how into its itself just less like made
make makes many may might more most much must not now off often one only other our out over own
problem reason reasons same she should since some such than that the their them then there these
they this those through too under until upon very was were what when where which while who whom
why will with within without would you your
"""
_EMPTY: Final = frozenset(_EMPTY_TEXT.split())
_HISSING: Final = re.compile(r"(?:x|sh|ss|(?:[tnr]|oa|ea|ee)ch)es$")
# Plurals that no ending tells, each with its singular.
_PLURALS: Final = """
people person persons person children child men man women woman feet foot teeth tooth geese goose
mice mouse oxen ox lives life wives wife knives knife leaves leaf shelves shelf halves half loaves
loaf calves calf wolves wolf thieves thief taxa taxon phyla phylum genera genus bacteria
bacterium strata stratum spectra spectrum errata erratum criteria criterion phenomena phenomenon
indices index vertices vertex matrices matrix appendices appendix analyses analysis theses thesis
hypotheses hypothesis diagnoses diagnosis syntheses synthesis crises crisis species
species series series fungi fungus nuclei nucleus stimuli stimulus alumni alumnus loci locus
statuses status buses bus viruses virus campuses campus censuses census status status bus bus
virus virus campus campus census census genus genus fungus fungus nucleus nucleus stimulus stimulus
alumnus alumnus locus locus analysis analysis thesis thesis hypothesis hypothesis diagnosis
diagnosis synthesis synthesis crisis crisis axes axis axis axis movies movie
cookies cookie calories calorie
"""
_PAIRS: Final = _PLURALS.split()
_ONE_OF: Final = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))


def content(text: str) -> frozenset[str]:
    """Return the words of a text that name something, in small letters and without a plural s."""
    found = _WORD.findall(_CAMEL.sub(" ", text))
    small = (word.casefold() for word in found)
    return frozenset(
        _singular(word) for word in small if len(word) >= _SHORTEST and word not in _EMPTY
    )


def _singular(word: str) -> str:
    if word in _ONE_OF:
        return _ONE_OF[word]
    if _HISSING.search(word):
        return word[:-2]
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def in_order(text: str) -> tuple[str, ...]:
    """Return all words of a text in small letters, as they follow each other."""
    return tuple(word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))


def every_word(text: str) -> frozenset[str]:
    """Return all words of a text in small letters."""
    return frozenset(word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))
