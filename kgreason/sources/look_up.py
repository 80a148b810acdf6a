"""Look-ups: a tester that sends each hypothesis to its best sources, and quotes what it finds."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.errors import RunError
from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.record.agents import Agent
from kgreason.sources.core_terms import core_terms
from kgreason.sources.described import Described
from kgreason.sources.passages import Found, best
from kgreason.sources.readings import Reader, Readings, key_of
from kgreason.sources.text_graph import TextGraph
from kgreason.sources.works import Source, Studies
from kgreason.test.finding import Finding, Passage, Retrieved
from kgreason.test.plans import PlannedTest, Sent, SourceAtHand
from kgreason.test.tester import KindOfTest, Member, RegisteredTest, Standing, planned

KIND: Final = "look-up"
FALLBACK_KIND: Final = "fallback-look-up"
SILENT: Final = "silent"
AGENT: Final = Agent(NamedNode("urn:kgreason:agent:look-up"), "look-up", software=True)


@dataclass
class LookUp:
    """Looks hypotheses up in the sources that a user named.

    It finds passages in which the terms of a hypothesis stand together. What they say is for the
    `reader` to tell; where nobody read them, they are mentions, and decide nothing.
    """

    sources: Mapping[str, Source]
    described: Described
    reader: Reader = field(default_factory=Readings)
    agent: Agent = AGENT
    modality: str = "literature"
    kinds: tuple[KindOfTest, ...] = (
        KindOfTest(KIND, ("says-so", "says-otherwise", "mentions", SILENT)),
        KindOfTest(FALLBACK_KIND, ("mentions", SILENT)),
    )
    studies: Studies = field(default_factory=Studies)

    def design(self, view: View, frame: Sequence[Member], /) -> Iterator[PlannedTest]:
        """Return a look-up of each member in each of the sources that are the best for it."""
        for one in self.sources.values():
            if isinstance(one, TextGraph):
                one.bind(view.graph)
        for position, member in enumerate(frame):
            terms = core_terms(member.statement)
            if terms:
                options = self.described.options(f"{member.statement} {member.mechanism}")
                names = [one.name for one in options[: integer("sourcesEach")]]
                yield from _look_ups(KIND, position, options, names, terms)

    def fall_back(
        self, _view: View, frame: Sequence[Member], standing: Standing, /
    ) -> Iterator[PlannedTest]:
        """Return what is looked up where the first look-ups gave nothing, or nothing held.

        A hypothesis of which its sources are silent is looked up by its first term alone in the
        best universal source. Where after all rounds no hypothesis holds, the question is.
        """
        for position, (member, outcomes) in enumerate(zip(frame, standing.outcomes, strict=True)):
            options = self.described.options(f"{member.statement} {standing.question}")
            universal = [one.name for one in options if one.universal][:1]
            least = min(integer("emptyAnswers"), len(options))
            silent = outcomes.count(SILENT) >= least and set(outcomes) == {SILENT}
            back, text = ("", "")
            if standing.last and not standing.held and position == 0:
                back, text = "question", standing.question
            elif not standing.last and silent:
                back, text = "hypothesis", member.statement
            terms = core_terms(text)[: 1 if back == "hypothesis" else None]
            if universal and terms:
                yield from _look_ups(FALLBACK_KIND, position, options, universal, terms, back)

    def run(self, view: View, test: RegisteredTest, /) -> Finding:
        """Return what a source gives for a registered look-up; raises RunError where it cannot."""
        asked = json.loads(test.query)
        terms: list[str] = asked["terms"]
        source = self.sources.get(asked["source"])
        if source is None:
            raise RunError(f"The source {asked['source']} was not given; name it by --source.")
        if isinstance(source, TextGraph):
            source.bind(view.graph)
        answer = source.search(terms, integer("worksAsked"))
        found = best(answer.works, terms, self.studies)
        passages = [self._passage(view, test, one) for one in found]
        searched = " AND ".join(terms)
        retrieved = Retrieved(source.name, searched, len(answer.works), answer.raw)
        outcome = _outcome(passages)
        decisive = sorted({p.study for p in passages if p.reading in {"supports", "contradicts"}})
        return Finding(
            outcome,
            _note(outcome, source.name, searched, passages),
            source=source.name,
            passages=passages,
            group=f"study:{' '.join(decisive)}" if decisive else "",
            retrieved=retrieved,
        )

    def _passage(self, view: View, test: RegisteredTest, one: Found) -> Passage:
        """Return a passage with its reading; one of a study that counts already is not read."""
        hidden = view.graph.hidden
        quote = one.quote if hidden is None else hidden.text(one.quote)
        work = one.work.work if hidden is None else hidden.text(one.work.work)
        key = key_of(test.statement, quote)
        counts = test.kind == KIND and one.study not in test.counted
        reading = self.reader.read(test.statement, quote) if counts else ""
        address = NamedNode(work) if work.startswith(("https://", "http://")) else work
        return Passage(address, quote, one.locator, one.study, reading, key)


def _look_ups(
    kind: str,
    position: int,
    options: Sequence[SourceAtHand],
    names: Sequence[str],
    terms: Sequence[str],
    fallback: str = "",
) -> Iterator[PlannedTest]:
    told = tuple(replace(one, taken=one.name in names) for one in options)
    sent = Sent(told, tuple(terms), fallback)
    for name in names:
        asked = json.dumps({"source": name, "terms": list(terms)}, ensure_ascii=False)
        yield planned(kind, asked, position, sent)


def _outcome(passages: Sequence[Passage]) -> str:
    """Return the outcome class: what more studies say; each study counts once."""
    if not passages:
        return SILENT
    said = Counter(dict.fromkeys(((p.study, p.reading) for p in passages), 1))
    sides = Counter(reading for _, reading in said)
    if sides["supports"] > sides["contradicts"]:
        return "says-so"
    return "says-otherwise" if sides["contradicts"] > sides["supports"] else "mentions"


def _note(outcome: str, source: str, searched: str, passages: Sequence[Passage]) -> str:
    # A folder is told by its own name; where it lies is nobody's business but the user's.
    source = source.rpartition("/")[2] if source.startswith("/") else source
    studies = len({p.study for p in passages})
    works = f"{studies} {'work' if studies == 1 else 'works'}"
    of = f"{source}: of {works} with {searched}, more"
    told = {
        SILENT: f"{source} has no passage with {searched}.",
        "mentions": f"{source}: {works} with {searched}; nobody has read a side out of them.",
        "says-so": f"{of} support it than contradict it.",
        "says-otherwise": f"{of} contradict it than support it.",
    }
    return told[outcome]
