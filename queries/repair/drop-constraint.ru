#+ summary: Takes a constraint out of a shape.
#+ title: Drop a constraint
#+ does: take the constraint out of the shape
#+ explanation: The parameter that nearly all data break is removed. It is the last resort, and clears by itself; it shows nothing about the cause.
#+ example: The pattern for the numbers of old goes.
#+ families: shape-everywhere shape-every-value
#+ region: shape
#+ operation: remove
#+ mends: shapes
#+ order: 74
#+ reads: shapes
#+ writes: shapes
#+ param shape: iri, the nearest shape with a name
#+ param predicate: iri, the predicate of the constrained path
#+ param parameter: iri, the parameter
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH work:shapes { ?inner {{ parameter }} ?old . } }
WHERE {
  GRAPH work:shapes { {{ shape }} sh:property* ?inner . ?inner sh:path {{ predicate }} ; {{ parameter }} ?old . }
}
