#+ summary: Writes a decimal comma as a point.
#+ title: Decimal comma to point
#+ does: write the decimal comma of {predicate} as a point
#+ explanation: Numbers with a comma get a point. They get the datatype that the shape asks for, too, or, where it asks for none, the one that nine in ten numbers of the property have; else they keep their own. Texts without a comma get the datatype that is asked for along with them; those with a point stay, since beside a comma it may stand between thousands.
#+ example: "3,5" becomes 3.5.
#+ families: value-form datatype datatype-plain
#+ components: Datatype Pattern In MinInclusive MinExclusive MaxInclusive MaxExclusive LessThan LessThanOrEquals MaxLength MinLength SPARQL OutcomeQuery
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 33
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param wanted: terms, the datatype that the shape asks for, if it does
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?mended . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && !isNumeric(?value) && REGEX(STR(?value), "^[+-]?[0-9]+(,[0-9]+)?$"))
  {% if wanted %}
  VALUES ?asked { {{ wanted | rows }} }
  FILTER (REGEX(STR(?asked), "XMLSchema#(decimal|double|float)$"))
  {% else %}
  FILTER (CONTAINS(STR(?value), ","))
  OPTIONAL { { SELECT ?asked WHERE {
    { SELECT (COUNT(?number) AS ?all) WHERE { ?one {{ predicate }} ?number . FILTER (isNumeric(?number)) } }
    { SELECT ?asked (COUNT(?other) AS ?such) WHERE { ?two {{ predicate }} ?other . FILTER (isNumeric(?other)) BIND (DATATYPE(?other) AS ?asked) } GROUP BY ?asked }
    FILTER (?such * 10 >= ?all * 9 && ?asked IN (xsd:decimal, xsd:double, xsd:float))
  } } }
  {% endif %}
  BIND (STRDT(REPLACE(STR(?value), ",", "."), COALESCE(?asked, DATATYPE(?value))) AS ?mended)
}
