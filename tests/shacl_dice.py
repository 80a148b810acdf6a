"""Random small graphs and random shapes, as wide as SHACL goes, for what is compared elsewhere."""

import random

PREFIXES = """PREFIX ex: <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
ex:U rdfs:subClassOf ex:T .
"""
NODES = ["ex:a", "ex:b", "ex:c", "ex:d", "_:x", "_:y"]
NAMED = NODES[:4]
PROPERTIES = ["ex:p", "ex:q", "ex:r"]
CLASSES = ["ex:T", "ex:U", "ex:V"]
# As they come, as a store would rewrite them, and as no datatype allows.
NUMBERS = [
    *("1", "2", "3", '"01"^^xsd:integer', '"+2"^^xsd:integer', '"2"^^xsd:int', '"02"^^xsd:int'),
    *("1.0", "1.5", '"1.50"^^xsd:decimal', "1.0E0", '"1.5"^^xsd:double', '"NaN"^^xsd:double'),
    *('"2"^^xsd:float', '"300"^^xsd:byte', '"abc"^^xsd:integer', '"1,5"^^xsd:decimal'),
]
OTHERS = [
    *('"x"', '"abc"', '"2"', '""', '"x"@en', '"X"@EN', '"y"@en', '"y"@en-GB', '"y"@de-CH'),
    *("true", "false", '"1"^^xsd:boolean', '"0"^^xsd:boolean', '"yes"^^xsd:boolean'),
    *('"2024-01-02"^^xsd:date', '"2024-02-30"^^xsd:date', '"2024-01-02T00:00:00"^^xsd:dateTime'),
    *('"2024-01-02T00:00:00.0Z"^^xsd:dateTime', '"2024-01-02T02:00:00+02:00"^^xsd:dateTime'),
    *('"x"^^ex:type', '"2"^^xsd:anyURI'),
]
LITERALS = [*NUMBERS, *OTHERS]
STABLE = [
    *("1", "2", "3", "1.5", "1.0", '"x"', '"abc"', '"2"', '""', '"x"@en', '"X"@EN', '"y"@en'),
    *('"y"@en-GB', '"y"@de-CH', "true", "false", '"2024-01-02"^^xsd:date', '"x"^^ex:type'),
    *('"2024-01-02T00:00:00"^^xsd:dateTime', '"2"^^xsd:anyURI', '"abc"^^xsd:integer'),
]
DATATYPES = [
    *("xsd:integer", "xsd:int", "xsd:decimal", "xsd:double", "xsd:string", "xsd:boolean"),
    *("xsd:date", "xsd:dateTime", "rdf:langString", "ex:type"),
]
KINDS = ["IRI", "Literal", "BlankNode", "BlankNodeOrIRI", "BlankNodeOrLiteral", "IRIOrLiteral"]


class Dice:
    """Draws a graph and shapes; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        """Start a sequence of draws."""
        self.random = random.Random(seed)
        self.names = 0

    def one(self, *choices: str) -> str:
        """Draw one of several."""
        return self.random.choice(choices)

    def some(self, choices: list[str], most: int) -> list[str]:
        """Draw at least one of several."""
        return self.random.sample(choices, self.random.randint(1, most))

    def chance(self, probability: float) -> bool:
        """Draw yes or no."""
        return self.random.random() < probability

    def data(self) -> str:
        """Draw a graph in Turtle, without its prefixes."""
        # In every second graph nothing is rewritten, so that no query has to mind the forms.
        usual = STABLE if self.chance(0.5) else LITERALS
        few = self.some(usual, 8)  # so that equal ones meet
        lines = [f"{node} a {self.one(*CLASSES)} ." for node in self.some(NODES, 5)]
        for _ in range(self.random.randint(8, 25)):
            value = self.one(self.one(*NODES), self.one(*few), self.one(*few), self.one(*usual))
            lines.append(f"{self.one(*NODES)} {self.one(*PROPERTIES)} {value} .")
        return "\n".join(lines)

    def path(self, depth: int = 2) -> str:
        """Draw a property path."""
        plain = self.one(*PROPERTIES)
        if depth == 0 or self.chance(0.6):
            return plain
        inner, other = self.path(depth - 1), self.path(depth - 1)
        return self.one(
            f"[ sh:inversePath {inner} ]",
            f"( {inner} {other} )",
            f"[ sh:alternativePath ( {inner} {other} ) ]",
            f"[ sh:zeroOrMorePath {inner} ]",
            f"[ sh:oneOrMorePath {inner} ]",
            f"[ sh:zeroOrOnePath {inner} ]",
        )

    def of_values(self, depth: int) -> str:
        """Draw a constraint that any shape may have."""
        if depth and self.chance(0.5):
            return self._logical(depth - 1)
        return self.one(*self._plain())

    def _plain(self) -> list[str]:
        """Draw one constraint of each sort."""
        bound = self.one(*NUMBERS, *OTHERS)
        members = " ".join(self.some([*LITERALS, *NAMED], 8))
        number = self.random.randint(0, 4)
        ignored = " ".join(self.some(PROPERTIES, 2) if self.chance(0.8) else [])
        texts = (
            f"sh:minLength {number}",
            f"sh:maxLength {number}",
            f'sh:pattern "{self.one("^0", "1", "x$", "a", "X")}" ; sh:flags "i"',
            f'sh:pattern "{self.one("^0", "1", "x$", "a", "[.]0")}"',
            f"sh:languageIn ( {self.one(*LANGUAGES)} )",
        )
        return [
            f"sh:{self.one('min', 'max')}{self.one('Inclusive', 'Exclusive')} {bound}",
            self.one(f"sh:in ( {members} )", f"sh:hasValue {self.one(*LITERALS, *NAMED)}"),
            f"sh:{self.one('equals', 'disjoint')} {self.one(*PROPERTIES)}",
            self.one(f"sh:datatype {self.one(*DATATYPES)}", f"sh:nodeKind sh:{self.one(*KINDS)}"),
            self.one(*texts),
            self.one(
                f"sh:class {self.one(*CLASSES)}",
                f"sh:closed true ; sh:ignoredProperties ( {ignored} )",
                f"sh:sparql [ {self.sparql(with_path=False)} ]",
            ),
        ]

    def _logical(self, depth: int) -> str:
        inner = [f"[ {self.shape(depth)} ]" for _ in range(self.random.randint(1, 3))]
        return self.one(
            f"sh:not {inner[0]}",
            f"sh:or ( {' '.join(inner)} )",
            f"sh:and ( {' '.join(inner)} )",
            f"sh:xone ( {' '.join(inner)} )",
            f"sh:node [ {self.node_shape(depth)} ]",
        )

    def of_paths(self, depth: int) -> str:
        """Draw a constraint that only property shapes may have."""
        number = self.random.randint(1, 3)
        disjoint = self.one("", " ; sh:qualifiedValueShapesDisjoint true")
        qualified = f"sh:qualifiedValueShape [ {self.shape(depth)} ]{disjoint}"
        return self.one(
            f"sh:minCount {number}",
            f"sh:maxCount {number - 1}",
            "sh:uniqueLang true",
            f"sh:lessThan {self.one(*PROPERTIES)}",
            f"sh:lessThanOrEquals {self.one(*PROPERTIES)}",
            f"{qualified} ; sh:qualifiedMinCount {number}",
            f"{qualified} ; sh:qualifiedMaxCount {number - 1}",
            f"sh:sparql [ {self.sparql(with_path=True)} ]",
        )

    def node_shape(self, depth: int) -> str:
        """Draw the inside of a node shape."""
        if depth and self.chance(0.5):
            number = self.random.randint(1, 2)
            inner = [f"[ {self.property_shape(depth - 1)} ]" for _ in range(number)]
            return f"sh:property {', '.join(inner)}"
        return self.of_values(depth)

    def property_shape(self, depth: int) -> str:
        """Draw the inside of a property shape."""
        made = [self.of_values(depth) if self.chance(0.5) else self.of_paths(min(depth, 1))]
        if depth and self.chance(0.3):
            made.append(f"sh:property [ {self.property_shape(depth - 1)} ]")
        return f"a sh:PropertyShape ; sh:path {self.path()} ; {' ; '.join(made)}"

    def shape(self, depth: int) -> str:
        """Draw the inside of a shape of either kind."""
        return self.property_shape(depth) if self.chance(0.5) else self.node_shape(depth)

    def target(self) -> str:
        """Draw a target."""
        return self.one(
            f"sh:targetClass {self.one(*CLASSES)}",
            f"sh:targetSubjectsOf {self.one(*PROPERTIES)}",
            f"sh:targetObjectsOf {self.one(*PROPERTIES)}",
            f"sh:targetNode {', '.join(self.some([*NAMED, *LITERALS], 6))}",
        )

    def shapes(self, number: int = 4) -> str:
        """Draw a shapes graph in Turtle, without its prefixes."""
        return "\n".join(
            f"ex:S{index} {self.target()} ; {self.shape(2)} ." for index in range(number)
        )

    def sparql(self, *, with_path: bool, minus: bool = False) -> str:
        """Draw a constraint that is a query; with MINUS it is none that SHACL allows."""
        path = "$PATH" if with_path else self.one(*PROPERTIES)
        lines = [f"$this {path} ?value ."]
        lines += [self._clause() for _ in range(self.random.randint(1, 2))]
        if minus:
            lines.append(f"MINUS {{ $this {self.one(*PROPERTIES)} ?value }}")
        head = self.one("$this ?value", "$this ?value", "$this", "DISTINCT $this ?value")
        text = f"SELECT {head} WHERE {{ {' '.join(lines)} }}"
        return f"sh:select '''{PREFIXES_OF_QUERY}{text}'''"

    def _clause(self) -> str:
        one, two = self.one(*PROPERTIES), self.one(*PROPERTIES)
        self.names += 1
        new = f"?n{self.names}"
        return self.one(
            f"FILTER ({self._expression('?value')})",
            f"FILTER ({self._expression('?value')})",
            f"FILTER NOT EXISTS {{ $this {one} ?value }}",
            f"FILTER NOT EXISTS {{ $this {one} ?w . FILTER ({self._expression('?w')}) }}",
            f"FILTER EXISTS {{ ?other {one} ?value }}",
            f"FILTER (EXISTS {{ ?value {one} ?w }} || {self._expression('?value')})",
            f"FILTER NOT EXISTS {{ ?other {one} ?value . $this {two} ?other }}",
            f"FILTER NOT EXISTS {{ $this {one} ?w . FILTER NOT EXISTS {{ $this {two} ?w }} }}",
            f"OPTIONAL {{ $this {one} ?w }} FILTER (!BOUND(?w) || {self._expression('?w')})",
            f"OPTIONAL {{ $this {one} ?w . FILTER (?w = ?value) }} FILTER (!BOUND(?w))",
            f"OPTIONAL {{ ?value {one} ?w }} BIND (COALESCE(?w, 0) AS {new}) FILTER ({new} = 0)",
            f"BIND (STR(?value) AS {new}) FILTER (STRLEN({new}) < 3)",
            f"{{ $this {one} ?value }} UNION {{ $this {two} ?value . FILTER (isLiteral(?value)) }}",
            f"$this {one} ?w . FILTER (?w {self.one('=', '!=', '<', '>=')} ?value)",
            f"$this {one} _:n . _:n {two} ?value .",
            f"$this {one}/{two} ?w .",
            f"?value ^{one} ?w .",
            f"{{ SELECT $this (COUNT(?w) AS {new}) WHERE {{ $this {one} ?w }} GROUP BY $this }} "
            f"FILTER ({new} > 1)",
        )

    def _expression(self, value: str) -> str:
        literal = self.one(*LITERALS)
        return self.one(
            f"{value} {self.one('=', '!=', '<', '<=', '>', '>=')} {literal}",
            f"{value} {self.one('=', '!=', '<', '<=', '>', '>=')} {self.one(*NUMBERS[:9])}",
            f"{value} {self.one('IN', 'NOT IN')} ({', '.join(self.some([*LITERALS, *NAMED], 4))})",
            f"sameTerm({value}, {literal})",
            f"DATATYPE({value}) {self.one('=', '!=')} {self.one(*DATATYPES)}",
            f'STR({value}) = "{self.one("1", "01", "x", "2", "true")}"',
            f"STRLEN(STR({value})) > 1",
            f'REGEX(STR({value}), "{self.one("^0", "1", "x")}")',
            f"{self.one('isIRI', 'isLiteral', 'isBlank', 'isNumeric')}({value})",
            f'LANG({value}) {self.one("=", "!=")} "{self.one("en", "")}"',
            f"{value} {self.one('+', '*')} 1 > 2",
            f"{value} = $this",
        )


LANGUAGES = ['"en"', '"de"', '"en" "de"', '"en-GB"', '"EN"']
PREFIXES_OF_QUERY = (
    "PREFIX ex: <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
)
