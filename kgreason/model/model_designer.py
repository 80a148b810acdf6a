"""A language model as a designer of tests: queries over the data, and code over their rows.

It designs against the leader of a frame, and for what lies in the gap between pruned and probable.
What it expects is registered before the run. It uses nothing but the IRIs that it is offered; what
breaks a rule is refused, sent back with the reason at most twice, and recorded.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kgreason.base.figures import integer
from kgreason.context.view import View
from kgreason.graph.names import Names
from kgreason.model.answers import READ
from kgreason.model.calling import Asking, Caller, judged
from kgreason.model.data_summary import summary
from kgreason.model.likelihoods import one_line
from kgreason.model.options import Options, options
from kgreason.model.prompts import fenced, prompt
from kgreason.record.agents import Agent
from kgreason.record.model_calls import ModelCall
from kgreason.test.tester import LOOKED_INTO, Member, in_gap, ranked

PURPOSE: Final = "design tests"
ADVERSARIAL: Final = "it leads; what would speak against it?"
GAP: Final = "it is open; what would tell whether it holds?"
_TRIES: Final = integer("designTries")
_MOST: Final = integer("designedMost")
_ANSWER: Final = 3000
_LONGEST: Final = 4000
_TOLD: Final = 300
_FORMS: Final = ("ASK", "SELECT", "CONSTRUCT")
_CODE: Final = "code"
_IRI: Final = re.compile(r"<([^<>\s]+)>")
_WORLD: Final = "://www.w3.org/"

Test = Mapping[str, Any]
"""A test as plain JSON: query, code where it has some, and what is expected."""
Check = Callable[[Test], str]
"""Says in a sentence why a test cannot be run, or nothing."""


class _Refused(Exception):  # noqa: N818 - it is told to the model, and ends nothing
    """A test that breaks a rule."""


@dataclass
class ModelDesigner:
    """Asks a model for tests of the members of a frame; it never raises for what a model does."""

    caller: Caller
    _kept: list[ModelCall] = field(default_factory=list, init=False, repr=False)
    _done: dict[tuple[str, ...], list[tuple[int, Test]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def agent(self) -> Agent:
        """The model, by its provider and name."""
        return self.caller.agent

    def designs(
        self, view: View, frame: Sequence[Member], check: Check, /, *, code: bool
    ) -> Sequence[tuple[int, Test]]:
        """Return tests of members of a frame, each with the place of its member.

        A frame that is asked about again gets the same. With `code` tests may have some.
        """
        frame_ = tuple(member.hypothesis.value for member in frame)
        if frame_ not in self._done:
            self._done[frame_] = self._designed(view, frame, check, code=code)
        return self._done[frame_]

    def taken(self) -> tuple[ModelCall, ...]:
        """Return the calls that are not recorded yet, and forget them."""
        calls, self._kept = tuple(self._kept), []
        return calls

    def _designed(
        self, view: View, frame: Sequence[Member], check: Check, *, code: bool
    ) -> list[tuple[int, Test]]:
        tasks = _tasks(frame)
        if not tasks:
            return []
        names = Names(view.graph)
        offered = options(view, names, select=False)
        forms = (*_FORMS, _CODE) if code else _FORMS
        reader = _Reader(tasks, forms, offered, check, self._before())
        told = (
            *(f"about {frame[place].hypothesis.value}" for place, _ in tasks.values()),
            *(f"form {form}" for form in forms),
            *(f"iri <{iri}>" for iri in sorted(offered.iris)),
        )
        kept: list[tuple[int, Test]] = []
        refused: list[str] = []
        for _ in range(_TRIES):
            made = prompt(
                "design",
                hypotheses=fenced("\n".join(_told(n, frame[p], t) for n, (p, t) in tasks.items())),
                data=fenced(summary(view, offered, names)),
                iris=fenced("\n".join(f"<{iri}>" for iri in sorted(offered.iris))),
                forms=forms,
                most=_MOST,
                before=fenced("\n".join(sorted(reader.before))) if reader.before else "",
                refused="\n".join(f"- {why}" for why in refused),
            )
            asking = Asking(PURPOSE, made, "design", _schema(list(tasks), forms), _ANSWER, told)
            reply, calls = self.caller.ask(asking, view.budget)
            if reply is None:
                self._kept += calls
                break
            found, refused, chosen = reader.read(reply.text, _MOST - len(kept))
            chosen = [_place(one, tasks, frame) for one in chosen]
            why = one_line(" ".join(refused), 2 * _TOLD)
            self._kept += judged(calls, chosen, "" if found else why, why)
            kept += found
            if not refused or len(kept) >= _MOST:
                break
        return kept

    def _before(self) -> set[str]:
        """Return the queries that were designed before, and the code over their rows."""
        return {_key(one) for several in self._done.values() for _, one in several}


def _tasks(frame: Sequence[Member]) -> dict[str, tuple[int, str]]:
    """Return what is to be tested: the leader, and the members in the gap, by a name each."""
    out: dict[str, tuple[int, str]] = {}
    for place, position in enumerate(ranked(frame)):
        gap = in_gap(frame[position])
        if (place == 0 or gap) and len(out) < LOOKED_INTO:
            out[f"H{len(out) + 1}"] = position, GAP if gap else ADVERSARIAL
    return out


def _told(name: str, member: Member, task: str) -> str:
    said = {
        "statement": member.statement,
        "mechanism": member.mechanism,
        "prediction": member.prediction,
        "asked": task,
    }
    return f"{name} {json.dumps(said, ensure_ascii=False)}"


def _place(choice: str, tasks: Mapping[str, tuple[int, str]], frame: Sequence[Member]) -> str:
    kind, _, name = choice.partition(" ")
    return f"about {frame[tasks[name][0]].hypothesis.value}" if kind == "about" else choice


def _schema(names: list[str], forms: Sequence[str]) -> dict[str, Any]:
    text, number = {"type": "string"}, {"type": "number"}
    properties = {
        "about": {"type": "string", "enum": names},
        "form": {"type": "string", "enum": list(forms)},
        "query": text,
        "code": text,
        "answer": {"type": "string", "enum": ["true", "false", "number"]},
        "least": number,
        "most": number,
    }
    one = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"tests": {"type": "array", "items": one}},
        "required": ["tests"],
        "additionalProperties": False,
    }


@dataclass
class _Reader:
    """Reads tests out of answers, and keeps which queries there were."""

    tasks: Mapping[str, tuple[int, str]]
    forms: Sequence[str]
    offered: Options
    check: Check
    before: set[str]

    def read(self, text: str, most: int) -> tuple[list[tuple[int, Test]], list[str], list[str]]:
        """Return the tests of an answer, why others are refused, and what the tests chose."""
        try:
            several = json.loads(text[text.find("{") : text.rfind("}") + 1])["tests"]
        except (ValueError, KeyError, TypeError, RecursionError):
            several = None
        if not isinstance(several, list):
            return [], ['The answer is no object {"tests": [...]}.'], []
        found: list[tuple[int, Test]] = []
        refused: list[str] = []
        chosen: list[str] = []
        for n, one in enumerate(several[:READ], start=1):
            try:
                position, test, took = self._one(one)
            except _Refused as error:
                refused.append(f"Test {n}: {error}")
                continue
            if len(found) >= most:
                refused.append(f"Test {n}: There are enough tests.")
                break
            self.before.add(_key(test))
            found.append((position, test))
            chosen += took
        return found, refused, chosen

    def _one(self, one: Any) -> tuple[int, Test, list[str]]:
        if not isinstance(one, Mapping):
            raise _Refused("A test is an object.")
        name, form = str(one.get("about", "")), str(one.get("form", ""))
        if name not in self.tasks:
            raise _Refused(f"There is no hypothesis {name[:20]!r} to test.")
        if form not in self.forms:
            raise _Refused(f"There is no form {form[:20]!r}; there are {', '.join(self.forms)}.")
        query, code = one.get("query"), one.get("code") or ""
        if not isinstance(query, str) or not isinstance(code, str) or len(query) > _LONGEST:
            raise _Refused(f"The query is a text of at most {_LONGEST} letters.")
        wanted = "SELECT" if form == _CODE else form
        if not query.lstrip().upper().startswith(wanted):
            raise _Refused(f"The query of the form {form} begins with {wanted}, without PREFIX.")
        if bool(code.strip()) != (form == _CODE):
            raise _Refused("A test of the form code has code, and no other has.")
        test: dict[str, Any] = {"query": query, "expect": _expected(one, wanted)}
        test |= {"code": code} if code.strip() else {}
        iris = self._iris(query)
        if _key(test) in self.before:
            raise _Refused("This was asked before.")
        wrong = self.check(test)
        if wrong:
            raise _Refused(one_line(wrong, _TOLD))
        chosen = [f"about {name}", f"form {form}", *(f"iri <{iri}>" for iri in iris)]
        return self.tasks[name][0], test, chosen

    def _iris(self, query: str) -> list[str]:
        """Return the IRIs of a query that were offered; refuses others, with those near them."""
        iris = [i for i in dict.fromkeys(_IRI.findall(query)) if _WORLD not in i]
        own = [i for i in dict.fromkeys(_IRI.findall(query)) if i in self.offered.iris]
        for iri in iris:
            if iri not in self.offered.iris:
                near = self.offered.near_paths(iri)
                raise _Refused(f"<{iri[:100]}> was not offered; near paths are {near}.")
        if not own:
            raise _Refused("The query names none of the IRIs that are offered.")
        return own


def _expected(one: Mapping[str, Any], form: str) -> Any:
    """Return the answer that is expected: a truth value for ASK, else bounds of a number."""
    answer = one.get("answer")
    if form == "ASK":
        if answer not in {"true", "false"}:
            raise _Refused("An ASK expects the answer true or false.")
        return answer == "true"
    bounds = [one.get("least"), one.get("most")]
    if answer != "number" or not all(
        isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in bounds
    ):
        raise _Refused("It expects a number, between least and most.")
    least, most = bounds
    if least is None or most is None or least > most:
        raise _Refused("The least number that is expected is above the most.")
    return {"least": least, "most": most}


def _key(test: Test) -> str:
    return " ".join(f"{test['query']} {test.get('code', '')}".split())
