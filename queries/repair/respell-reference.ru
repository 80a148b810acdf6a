#+ summary: Puts a term that is described in place of one that differs from it in its capitals.
#+ title: Write a term with the capitals of its description
#+ does: point by {predicate} at the terms that are described, with other capitals
#+ explanation: A claimed node points at the described term in place of the other one. A term of which several are described that differ in nothing but capitals is an obstacle: which one is meant nobody has said.
#+ example: ex:Pub7 becomes ex:pub7.
#+ families: reference-cased
#+ region: property-assertion
#+ operation: replace
#+ mends: data
#+ order: 11
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?new . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?old . }
  FILTER (isIRI(?old))
  FILTER NOT EXISTS { ?old ?property ?value . }
  BIND (LCASE(STR(?old)) AS ?plain)
  { SELECT ?plain (MIN(STR(?right)) AS ?known) WHERE {
    { SELECT DISTINCT ?right WHERE { ?right ?described ?as . FILTER (isIRI(?right)) } }
    BIND (LCASE(STR(?right)) AS ?plain)
  } GROUP BY ?plain HAVING (COUNT(DISTINCT ?right) = 1) }
  BIND (IRI(?known) AS ?new)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "several terms are described that differ in nothing but capitals" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?old .
  FILTER (isIRI(?old))
  FILTER NOT EXISTS { ?old ?property ?value . }
  BIND (LCASE(STR(?old)) AS ?plain)
  { SELECT ?plain WHERE {
    { SELECT DISTINCT ?right WHERE { ?right ?described ?as . FILTER (isIRI(?right)) } }
    BIND (LCASE(STR(?right)) AS ?plain)
  } GROUP BY ?plain HAVING (COUNT(DISTINCT ?right) > 1) }
}
