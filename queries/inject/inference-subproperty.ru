#+ summary: Writes the value under a subproperty, which only closure undoes.
#+ title: Missing closure: subproperty
#+ explanation: The values of the corrupted nodes move to a subproperty; the ontology says that it is one.
#+ example: The net weight was given, of which the weight follows.
#+ cause: inference
#+ components: MinCount
#+ values: any
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param other: iri, the subproperty
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT {
  GRAPH ?graph { ?focus {{ other }} ?value . }
  GRAPH work:ontology { {{ other }} rdfs:subPropertyOf {{ predicate }} . }
}
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
}
