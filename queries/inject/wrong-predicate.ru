#+ summary: Writes the value under another predicate.
#+ title: Wrong predicate
#+ explanation: The values of the corrupted nodes move to another predicate.
#+ example: A release of the exporter writes the price as cost.
#+ cause: mapping
#+ components: MinCount
#+ values: any
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param other: iri, the predicate used instead
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ other }} ?value . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
}
