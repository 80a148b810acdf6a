"""The dossier: what a narrator is shown of the hypotheses on a symptom, from the record alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.figures import figure, integer
from kgreason.base.store import Row
from kgreason.model.spending import estimate
from kgreason.record import Record

_FIRST: Final = 2
"""As many hypotheses as a dossier tells that would be too long otherwise."""


@dataclass(frozen=True)
class Line:
    """One item of evidence: its name in the dossier, what it is about, and its sentence."""

    name: str
    node: NamedNode
    hypothesis: str
    polarity: str
    told: str


@dataclass(frozen=True)
class Dossier:
    """The hypotheses, each as a sentence by its name, and the evidence on them.

    `whole` says whether all are in it, or the first two alone. `gone` says when those were given up
    that are no longer open.
    """

    hypotheses: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Line, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)
    whole: bool = True

    @property
    def text(self) -> str:
        """The dossier as lines."""
        out = []
        for name, told in self.hypotheses.items():
            out.append(f"{name} {told}{self.gone.get(name, '')}")
            for polarity in ("supports", "contradicts", "neutral"):
                out += [
                    f"  {line.name} {polarity}: {line.told}"
                    for line in self.evidence
                    if (line.hypothesis, line.polarity) == (name, polarity)
                ]
        if not self.whole:
            out.append("(The others are left out: there is no room for them.)")
        return "\n".join(out)

    def leading(self) -> "Dossier":
        """Return the dossier of the first two hypotheses alone."""
        names = list(self.hypotheses)[:_FIRST]
        return Dossier(
            {name: self.hypotheses[name] for name in names},
            tuple(line for line in self.evidence if line.hypothesis in names),
            self.gone,
            len(names) == len(self.hypotheses),
        )


def dossier(record: Record, symptom: NamedNode) -> Dossier:
    """Return the dossier of a symptom: all hypotheses while they fit, else the first two."""
    rows = record.select("dossier", symptom=symptom)
    names = {row["hypothesis"].value: f"H{row['number'].value}" for row in rows}
    lines = tuple(
        Line(
            f"E{row['evidence'].value.rpartition(':')[2]}",
            NamedNode(row["evidence"].value),
            names[row["hypothesis"].value],
            row["polarity"].value.rpartition("#")[2].lower(),
            f"{row['kind'].value} {row['outcome'].value}. "
            + (row["note"].value if "note" in row else ""),
        )
        for row in record.select("dossier-evidence", symptom=symptom)
    )
    gone = {names[r["hypothesis"].value]: _gone(r) for r in rows if "round" in r}
    whole = Dossier({names[r["hypothesis"].value]: _told(r) for r in rows}, lines, gone)
    most = integer("dossierTokens") * figure("dossierWhole")
    return whole if estimate(whole.text) <= most else whole.leading()


def _told(row: Row) -> str:
    status = row["status"].value.rpartition("#")[2].lower()
    share = 100 * float(row["confidence"].value)
    why = f" {row['mechanism'].value}" if "mechanism" in row else ""
    return f"({status}, {share:.0f} %): {row['statement'].value}{why}"


def _gone(row: Row) -> str:
    return f" [given up in round {row['round'].value}]"
