"""Look-ups: a tester that sends each hypothesis to its best sources, and quotes what it finds."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyoxigraph import NamedNode

from kgreason.base.errors import RunError
from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall
from kgreason.sources.core_terms import core_terms
from kgreason.sources.described import Described
from kgreason.sources.further import ADVERSARIAL_KIND, GAP_KIND, TermChooser, further
from kgreason.sources.passages import Found, best, with_any
from kgreason.sources.readings import PassageReader, Reader, Readings, key_of
from kgreason.sources.text_graph import TextGraph
from kgreason.sources.works import Source, Studies
from kgreason.test.finding import Finding, Passage, Retrieved
from kgreason.test.plans import PlannedTest, Sent, SourceAtHand
from kgreason.test.tester import KindOfTest, Member, RegisteredTest, Standing, planned

KIND: Final = "look-up"
FALLBACK_KIND: Final = "fallback-look-up"
FURTHER_KINDS: Final = (GAP_KIND, ADVERSARIAL_KIND)
SILENT: Final = "silent"
MODEL_SAYS: Final = ("model-says-so", "model-says-otherwise")
"""The outcome classes of what a model alone read, which weigh less than what a person read."""
_EACH: Final = integer("sourcesEach")
AGENT: Final = Agent(NamedNode("urn:kgreason:agent:look-up"), "look-up", software=True)


@dataclass
class LookUp:
    """Looks hypotheses up in the sources that a user named.

    It finds passages in which the terms of a hypothesis stand together. What they say is for the
    `reader` to tell, and then for the `model`; where nobody read them, they are mentions, and
    decide nothing.
    """

    sources: Mapping[str, Source]
    described: Described
    reader: Reader = field(default_factory=Readings)
    model: PassageReader | None = None
    chooser: TermChooser | None = None
    further: bool = True
    agent: Agent = AGENT
    modality: str = "literature"

    @property
    def kinds(self) -> tuple[KindOfTest, ...]:
        """The kinds of look-ups; what a model reads has outcomes of its own."""
        read = MODEL_SAYS if self.model is not None else ()
        outcomes = ("says-so", "says-otherwise", *read, "mentions", SILENT)
        more = FURTHER_KINDS if self.further else ()
        return (
            *(KindOfTest(kind, outcomes) for kind in (KIND, *more)),
            KindOfTest(FALLBACK_KIND, ("mentions", SILENT)),
        )

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls of the model that are not recorded yet, and forget them."""
        both = (self.model, self.chooser)
        return tuple(call for one in both if one is not None for call in one.taken())

    def design(self, view: View, frame: Sequence[Member], /) -> Iterator[PlannedTest]:
        """Return a look-up of each member in each of the sources that are the best for it."""
        for one in self.sources.values():
            if isinstance(one, TextGraph):
                one.bind(view.graph)
        for position, member in enumerate(frame):
            terms = core_terms(member.statement)
            if terms:
                options = self.described.options(f"{member.statement} {member.mechanism}")
                names = [one.name for one in options[:_EACH]]
                yield from _look_ups(KIND, position, options, names, terms)

    def fall_back(
        self, view: View, frame: Sequence[Member], standing: Standing, /
    ) -> Iterator[PlannedTest]:
        """Return what is looked up further once the first look-ups and all other tests are done.

        A hypothesis of which its sources are silent is looked up by its first term alone in the
        best universal source. Where after all rounds no hypothesis holds, the question is. Before,
        the leader is looked up once more with words that speak against it, and so is, by other
        words, what lies between pruned and probable.
        """
        back = list(self._fallen_back(frame, standing))
        yield from back
        if self.further and not standing.last:
            yield from self._further(view, frame, {one.tested for one in back})

    def _further(
        self, view: View, frame: Sequence[Member], silent: Collection[int]
    ) -> Iterator[PlannedTest]:
        asked = further(frame, [n in silent for n in range(len(frame))])
        chosen: Mapping[int, tuple[str, ...]] = {}
        if self.chooser is not None and asked:
            chosen = self.chooser.choose_terms(view, asked)
        for place, one in enumerate(asked):
            member = frame[one.position]
            options = self.described.options(f"{member.statement} {member.mechanism}")
            names = [each.name for each in options[:_EACH]]
            terms = chosen.get(place, one.terms)
            yield from _look_ups(one.kind, one.position, options, names, terms, any_of=one.any_of)

    def _fallen_back(self, frame: Sequence[Member], standing: Standing) -> Iterator[PlannedTest]:
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
        any_of: list[str] = asked.get("any", [])
        # The cap of each source comes first; then what another source gave already is left out.
        found = best(with_any(answer.works, any_of), terms, Studies(test.studies))
        theirs = {study for study, name in test.quoted if name != source.name}
        own = [one for one in found if one.study not in theirs]
        passages = self._read(view, test, [self._passage(view, test, one) for one in own])
        searched = " AND ".join([*terms, *([f"({' OR '.join(any_of)})"] if any_of else [])])
        merged = len(found) - len(own)
        retrieved = Retrieved(source.name, searched, len(answer.works), answer.raw, merged)
        outcome = _outcome(passages, merged)
        decisive = sorted({p.study for p in passages if p.reading in {"supports", "contradicts"}})
        return Finding(
            outcome,
            _note(outcome, source.name, " AND ".join(terms), passages, merged),
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
        counts = test.kind != FALLBACK_KIND and one.study not in test.counted
        reading = self.reader.read(test.statement, quote) if counts else ""
        address = NamedNode(work) if work.startswith(("https://", "http://")) else work
        known = one.work.keys if hidden is None else tuple(map(hidden.text, one.work.keys))
        return Passage(address, quote, one.locator, one.study, reading, key, known)

    def _read(self, view: View, test: RegisteredTest, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages with the model's readings of those that count and that nobody read."""
        if self.model is None or test.kind == FALLBACK_KIND:
            return list(passages)
        known = {p.study for p in passages if p.reading} | test.counted
        quotes = {p.key: p.quote for p in passages if p.study not in known}
        read = self.model.read_passages(view, test.statement, quotes) if quotes else {}
        return [
            replace(p, reading=read[p.key].said, span=read[p.key].span, judged=read[p.key].judged)
            if p.key in read
            else p
            for p in passages
        ]


def _look_ups(
    kind: str,
    position: int,
    options: Sequence[SourceAtHand],
    names: Sequence[str],
    terms: Sequence[str],
    fallback: str = "",
    any_of: Sequence[str] = (),
) -> Iterator[PlannedTest]:
    told = tuple(replace(one, taken=one.name in names) for one in options)
    sent = Sent(told, tuple(terms), fallback)
    for name in names:
        asked: dict[str, object] = {"source": name, "terms": list(terms)}
        asked |= {"any": list(any_of)} if any_of else {}
        yield planned(kind, json.dumps(asked, ensure_ascii=False), position, sent)


def _outcome(passages: Sequence[Passage], merged: int = 0) -> str:
    """Return the outcome class: what more studies say; each study counts once.

    What a model read decides only where what people read does not.
    """
    if not passages:
        return "mentions" if merged else SILENT
    for by_model, (pro, con) in ((False, ("says-so", "says-otherwise")), (True, MODEL_SAYS)):
        said = {(p.study, p.reading) for p in passages if (p.judged is not None) == by_model}
        sides = Counter(reading for _, reading in said)
        if sides["supports"] != sides["contradicts"]:
            return pro if sides["supports"] > sides["contradicts"] else con
    return "mentions"


def _note(
    outcome: str, source: str, searched: str, passages: Sequence[Passage], merged: int
) -> str:
    # A folder is told by its own name; where it lies is nobody's business but the user's.
    source = source.rpartition("/")[2] if source.startswith("/") else source
    studies = len({p.study for p in passages})
    works = f"{studies} {'work' if studies == 1 else 'works'}"
    of = f"{source}: of {works} with {searched}, more"
    by = "support it than contradict it", "contradict it than support it"
    told = {
        SILENT: f"{source} has no passage with {searched}.",
        "mentions": f"{source}: {works} with {searched}; nobody has read a side out of them.",
        "says-so": f"{of} {by[0]}.",
        "says-otherwise": f"{of} {by[1]}.",
        MODEL_SAYS[0]: f"{of} {by[0]}, as a model reads them.",
        MODEL_SAYS[1]: f"{of} {by[1]}, as a model reads them.",
    }
    if merged and not passages:
        return f"{source}: what it has with {searched} another source gave already."
    more = f" What {merged} more tell another source gave already." if merged else ""
    return f"{told[outcome]}{more}"
