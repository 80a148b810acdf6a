#+ summary: Brings what is pointed at and missing from another source, by the least that mends it.
#+ title: Import the missing resource from another source
#+ does: bring the descriptions of what {predicate} points at
#+ explanation: Of each thing without a description that claimed nodes point at, the statements that the other source makes of it are offered, and those it makes of what it names there and is not described here either. Of them only those are taken that validation needs: first what the broken constraint reads, such as the class, then what the shapes ask of a thing of that class; what can be left out again without a violation is left out. They are put into a graph that refers to the thing.
#+ example: Of a certificate its class and its issuer are taken from the register; its history is not.
#+ families: reference-missing reference-missing-all
#+ needs: imported
#+ takes: least
#+ region: node
#+ operation: add
#+ mends: data
#+ order: 43
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the namespace of what is missing, or an empty text for any
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH ?graph { ?subject ?property ?value . } }
WHERE {
  { SELECT ?thing (MIN(STR(?where)) AS ?first) WHERE {
    {{ nodes }}
    GRAPH ?where { ?focus {{ predicate }} ?thing . }
    FILTER (isIRI(?thing) && STRSTARTS(STR(?thing), {{ level }}) && !STRSTARTS(STR(?where), "urn:x-kgreason:work:"))
    FILTER NOT EXISTS { ?thing ?known ?any . }
  } GROUP BY ?thing }
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  { GRAPH work:imported { ?thing ?property ?value . } BIND (?thing AS ?subject) }
  UNION
  { GRAPH work:imported { ?thing ?link ?subject . ?subject ?property ?value . }
    FILTER (?link != rdf:type && ?subject != ?thing)
    FILTER NOT EXISTS { ?subject ?known2 ?any2 . } }
  BIND (IRI(?first) AS ?graph)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "the other source does not describe what it points at" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?thing .
  FILTER (isIRI(?thing) && STRSTARTS(STR(?thing), {{ level }}))
  FILTER NOT EXISTS { ?thing ?known ?any . }
  FILTER NOT EXISTS { GRAPH work:imported { ?thing ?property ?value . } }
}
