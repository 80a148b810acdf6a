#+ summary: Gives values the datatype that the shape asks for.
#+ title: Cast a datatype
#+ does: cast the values of {predicate} to {datatype}
#+ explanation: The text of each value of the form that was found is kept and gets the right datatype; values of other forms have other causes and stay. A day is cut out of a time, and a time begins at midnight of a day; a number without a fraction becomes an integer. What is not written as the datatype asks is an obstacle.
#+ example: The string "2026-02-01" becomes a date.
#+ families: datatype datatype-plain
#+ components: Datatype
#+ needs: typed
#+ region: literal-value
#+ operation: cast
#+ mends: data
#+ order: 20
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param datatype: iri, the datatype that the shape asks for
#+ param written: iri, the same, or with the mark that keeps the store from rewriting the text
#+ param formed: flag, whether the store has rewritten values of the predicate
#+ param level: literal, the form that was found: a datatype IRI, or a language tag after @
#+ param form: iri, where they stand as they were written
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?cast . } }
WHERE {
  {{ nodes }}
  {% if formed %}
  { GRAPH ?graph { ?focus {{ predicate }} ?value . }
    FILTER NOT EXISTS { GRAPH work:forms { ?focus {{ form }} ?kept . } } }
  UNION
  { GRAPH work:forms { ?focus {{ form }} ?value . }
    BIND (IF(isLiteral(?value) && LANG(?value) = "", STRDT(STR(?value), IRI(REPLACE(STR(DATATYPE(?value)), "^urn:x-kgreason:work:form:", ""))), ?value) AS ?stored)
    GRAPH ?graph { ?focus {{ predicate }} ?stored . } }
  {% else %}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  {% endif %}
  FILTER (isLiteral(?value) && REPLACE(STR(DATATYPE(?value)), "^urn:x-kgreason:work:form:", "") != STR({{ datatype }}))
  FILTER (IF(LANG(?value) != "", CONCAT("@", LANG(?value)), REPLACE(STR(DATATYPE(?value)), "^urn:x-kgreason:work:form:", "")) = {{ level }})
  BIND (STR(?value) AS ?text)
  BIND (IF({{ datatype }} = xsd:date, REPLACE(?text, "T.*$", ""),
    IF({{ datatype }} = xsd:dateTime && REGEX(?text, "^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}$"), CONCAT(?text, "T00:00:00"),
    IF({{ datatype }} = xsd:integer, REPLACE(?text, "[.]0+$", ""), ?text))) AS ?new)
  BIND (STRDT(?new, {{ written }}) AS ?cast)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "a value is not written as the datatype asks" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?value .
  FILTER (isLiteral(?value) && DATATYPE(?value) != {{ datatype }})
  FILTER (IF(LANG(?value) != "", CONCAT("@", LANG(?value)), STR(DATATYPE(?value))) = {{ level }})
  BIND (STR(?value) AS ?text)
  FILTER (!IF({{ datatype }} = xsd:integer, REGEX(?text, "^[+-]?[0-9]+([.]0+)?$"),
    IF({{ datatype }} = xsd:decimal, REGEX(?text, "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)$"),
    IF({{ datatype }} IN (xsd:double, xsd:float), REGEX(?text, "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"),
    IF({{ datatype }} = xsd:boolean, REGEX(?text, "^(true|false|1|0)$"),
    IF({{ datatype }} IN (xsd:date, xsd:dateTime), REGEX(?text, "^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(T.*)?(Z|[+-][0-9]{2}:[0-9]{2})?$"),
    IF({{ datatype }} = xsd:gYear, REGEX(?text, "^-?[0-9]{4,}$"),
    IF({{ datatype }} = xsd:anyURI, !REGEX(?text, "[ <>{}|^`]"), true))))))))
}
