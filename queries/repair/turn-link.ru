#+ summary: Turns links round that were written from their other end.
#+ title: Turn a link round
#+ does: turn {dimension} round
#+ explanation: Every link between a claimed node and a thing of the class in question goes the other way then, in the same named graph.
#+ example: What a title contains is said of the title, in place of its contents.
#+ families: mapping-reversed
#+ region: property-assertion
#+ operation: turn
#+ mends: data
#+ order: 12
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, the predicate that was written from the other end
#+ param level: iri, the class of what is at the other end
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
DELETE { GRAPH ?graph { ?from {{ dimension }} ?to . } }
INSERT { GRAPH ?graph { ?to {{ dimension }} ?from . } }
WHERE {
  {{ nodes }}
  { GRAPH ?graph { ?focus {{ dimension }} ?thing . } BIND (?focus AS ?from) BIND (?thing AS ?to) }
  UNION
  { GRAPH ?graph { ?thing {{ dimension }} ?focus . } BIND (?thing AS ?from) BIND (?focus AS ?to) }
  ?thing rdf:type/rdfs:subClassOf* {{ level }} .
  # What is said from both ends is not told by turning it.
  FILTER NOT EXISTS { GRAPH ?graph { ?to {{ dimension }} ?from . } }
}
