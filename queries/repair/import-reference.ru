#+ summary: Describes what is pointed at and missing, by the least that mends it: its class.
#+ title: Import the missing resource
#+ does: type what {predicate} points at as {class}
#+ explanation: Each thing without a description that claimed nodes point at gets the class that the shape asks for, once, in a graph that refers to it. It is the smallest set of triples that an import has to bring; where it is not enough, validation says what is lacking. Where a node points at a described one of the class besides, though most nodes point at one alone, what is missing may be a slip, and is an obstacle.
#+ example: The certificates of an outside register are typed as such.
#+ families: reference-missing reference-missing-all
#+ components: Class
#+ region: node
#+ operation: add
#+ mends: data
#+ order: 44
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param class: iri, the class that the shape asks for
#+ param level: literal, the namespace of what is missing, or an empty text for any
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH ?graph { ?thing rdf:type {{ class }} . } }
WHERE {
  { SELECT ?thing (MIN(STR(?where)) AS ?first) WHERE {
    {{ nodes }}
    GRAPH ?where { ?focus {{ predicate }} ?thing . }
    FILTER (isIRI(?thing) && STRSTARTS(STR(?thing), {{ level }}))
    FILTER NOT EXISTS { ?thing ?property ?any . }
  } GROUP BY ?thing }
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  BIND (IRI(?first) AS ?graph)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "it points at one that is described though most nodes point at one alone" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?thing , ?described .
  FILTER (isIRI(?thing) && STRSTARTS(STR(?thing), {{ level }}))
  FILTER NOT EXISTS { ?thing ?property ?any . }
  ?described rdf:type {{ class }} .
  { SELECT (COUNT(?one) AS ?nodes) (SUM(IF(?values = 1, 1, 0)) AS ?single) WHERE {
    { SELECT ?one (COUNT(?value) AS ?values) WHERE { ?one {{ predicate }} ?value . } GROUP BY ?one }
  } }
  FILTER (?single * 2 > ?nodes)
}
