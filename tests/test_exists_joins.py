"""No template joins patterns within EXISTS: the embedded store would join them anew for each node.

A pattern with a variable from outside is looked up. So a chain is written as EXISTS within EXISTS;
what cannot be is MINUS, or a sub-select with DISTINCT.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from kgreason.base.templates import Template, role, roles

ALLOWED: Final = {
    "audit/evidence-group": "the fields of citations are optional; few of them are compared",
}
"""Templates that may join within EXISTS, each with the reason."""

_TOKEN: Final = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|\"(?:[^\"\\]|\\.)*\"|<[^\s<>\"{}|^`]*>|[?$]\w+|[\w-]*:[\w-]+"
    r"|\d+\.\d+|\w+|\S",
    re.DOTALL,
)
_VARIABLE: Final = re.compile(r"[?$](\w+)")
_GIVEN: Final = frozenset({"focus", "this"})
"""Every region and check is asked of these: they are bound outside of what a template writes."""
_EXPRESSION: Final = frozenset({"FILTER", "BIND", "VALUES", "OPTIONAL", "EXISTS"})
_FRAGMENT: Final = "?focus work:fragment ?value ."
"""In place of what another template or the compiler puts in."""
_NO_TERM: Final = r"(?=\s*(?:[.{}]|FILTER|OPTIONAL|[?$]\w+ (?:a|[\w-]*:[\w-]+) ))"


def lone_patterns(text: str, *fragments: str) -> list[str]:
    """Return the patterns within an EXISTS that stand beside others and know nothing from outside.

    What is OPTIONAL, and what stands beside VALUES, is worked out for all nodes too.
    A step of a path (a/b) is a pattern of its own; `fragments` are parameters that stand for some.
    """
    for name in fragments:
        # Where a predicate or an object follows, or a predicate would stand, it is a term or path.
        text = re.sub(rf"(?<=[{{}}.])(\s*)\{{\{{ {name} \}}\}}{_NO_TERM}", rf"\1{_FRAGMENT}", text)
    found = []
    for section in re.split(r"(?m)^#=.*$", text):
        lines = (line for line in section.splitlines() if not line.lstrip().startswith("#"))
        plain = "{ " + "\n".join(lines) + " }"
        words = [word for word in _TOKEN.findall(plain) if not word.startswith("{%")]
        for place, word in enumerate(words):
            if word == "{" and words[place - 1] == "EXISTS":
                found += _lone(words, place)
    return found


def _lone(words: list[str], place: int) -> list[str]:
    if words[place + 1] == "SELECT":
        return []  # what it projects the store does hand in
    within = words[place + 1 : closing(words, place)]
    body = patterns(within) + [["OPTIONAL"]] * within.count("OPTIONAL")
    known = around(words, place)
    lone = [" ".join(terms) for terms in body if not known & variables(terms)]
    return lone if len(body) > 1 or "VALUES" in within else []


def variables(words: list[str]) -> set[str]:
    return {name[1] for word in words if (name := _VARIABLE.fullmatch(word))}


def closing(words: list[str], start: int) -> int:
    """Return the place of the bracket that closes the one at a place."""
    pair, depth = {"{": "{}", "(": "()"}[words[start]], 0
    for place in range(start, len(words)):
        depth += (words[place] == pair[0]) - (words[place] == pair[1])
        if not depth:
            return place
    return len(words)


def around(words: list[str], place: int) -> set[str]:
    """Return the variables of the groups around a place, as far as the next sub-select."""
    opened: list[int] = []
    for index in range(place):
        if words[index] == "{":
            opened.append(index)
        elif words[index] == "}" and opened:
            opened.pop()
    known = set(_GIVEN)
    for start in reversed(opened):
        index, end = start + 1, closing(words, start)
        while index < end:
            inner = closing(words, index) if words[index] == "{" else index
            apart = "UNION" in {words[index - 1], *words[inner + 1 : inner + 2]}
            if index <= place <= inner or words[index - 1] == "EXISTS":
                index = inner + 1
            elif inner > index and apart:
                index = inner + 1  # what another branch binds is not bound here
            elif inner > index and words[index + 1] == "SELECT":
                known |= variables(words[index : words.index("{", index + 1)])
                index = inner + 1
            else:
                known |= variables([words[index]])
                index += 1
        if words[start + 1] == "SELECT":
            break
    return known


def patterns(body: list[str]) -> list[list[str]]:
    """Return the triple patterns of a group, of its named graphs too; a fragment counts as one."""
    found: list[list[str]] = []
    subject, terms, place = "", list[str](), 0
    while place < len(body):
        word = body[place]
        if word in _EXPRESSION:
            while body[place] not in {"(", "{"}:
                place += 1
            place, word = closing(body, place), "."
        elif word in {"{", "}", "GRAPH", "UNION"}:
            place, word = place + (word == "GRAPH"), "."
        if word not in {".", ";", ","}:
            subject, terms = (subject, [*terms, word]) if subject else (word, terms)
        elif subject:
            ends = [subject, *terms] if len(terms) < 3 else [subject, terms[-1]]
            split = "/" in terms and "(" not in terms
            found += [[subject], [terms[-1]]] if split else [ends]
            terms = terms[:1] if word == "," else []
            subject = "" if word == "." else subject
        place += 1
    return [*found, [subject, *terms]] if subject else found


def fragments(made: Template) -> list[str]:
    return [name for name, parameter in made.parameters.items() if parameter.type == "pattern"]


def test_no_template_joins_within_exists() -> None:
    made = [each for name in roles() for each in role(name).values()]
    faults = {
        f"{each.role}/{each.name}": lone
        for each in made
        if (lone := lone_patterns(Path(each.path).read_text(encoding="utf-8"), *fragments(each)))
    }
    assert {name: lone for name, lone in faults.items() if name not in ALLOWED} == {}
    assert [name for name in ALLOWED if name not in faults] == []  # an exception that is none


@pytest.mark.parametrize(
    ("text", "lone"),
    [
        ("{ ?x a ?y . FILTER EXISTS { ?x ?p ?z . ?z ?q ?r . } }", ["?z ?q ?r"]),
        ("{ ?x a ?y . FILTER EXISTS { ?x ?p ?z ; ?q ?r . } }", []),
        ("{ ?x a ?y . FILTER EXISTS { ?x ?p ?z . FILTER EXISTS { ?z ?q ?r . } } }", []),
        ("{ ?x a ?y . BIND (EXISTS { ?z ?p ?x ; a ?k } AS ?told) }", ["?z a ?k"]),
        ("{ ?x a ?y . FILTER EXISTS { ?x ex:a/ex:b ?z . } }", ["?z"]),
        ("{ ?x a ?y . FILTER NOT EXISTS { ?z ?q ?r . } }", []),
        (
            "{ { SELECT ?x WHERE { ?x ?p ?z } } FILTER EXISTS { ?x ?o ?z . ?z ?q ?r } }",
            ["?z ?q ?r"],
        ),
        ("{ { ?x a ?y . FILTER EXISTS { ?x ?p ?z . ?z ?q ?r } } UNION { ?z a ?y } }", ["?z ?q ?r"]),
        ("{ ?x a ?y . FILTER EXISTS { {{ offending }} ?value a ?k . } }", ["?value a ?k"]),
        ("{ ?x a ?y . FILTER EXISTS { ?x ?p ?z . OPTIONAL { ?z ?q ?r . } } }", ["OPTIONAL"]),
        ("{ ?x a ?y . FILTER EXISTS { VALUES ?q { ex:a } ?z ?q ?r . } }", ["?z ?q ?r"]),
        ("{ ?x a ?y . FILTER EXISTS { VALUES ?q { ex:a } ?x ?q ?r . } }", []),
    ],
)
def test_what_the_check_sees(text: str, lone: list[str]) -> None:
    assert lone_patterns(text, "offending") == lone
