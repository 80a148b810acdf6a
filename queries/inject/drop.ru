#+ summary: Leaves a value out.
#+ title: Dropped property
#+ explanation: The corrupted nodes lose every value of the property.
#+ example: An export leaves the weight of shipments out.
#+ cause: region
#+ components: MinCount
#+ values: any
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
}
