#+ summary: Leaves a value out.
#+ title: Dropped property
#+ explanation: The struck nodes lose every value of the property.
#+ example: An export leaves the weight of shipments out.
#+ cause: region
#+ components: MinCount
#+ values: any
#+ strikes: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
WHERE {
  GRAPH work:marks { ?focus work:struck work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
}
