#+ summary: Moves the bound of a shape to where the data are.
#+ title: Relax a bound
#+ does: move the bound of the shape to where the data are
#+ explanation: The number in a constraint on counts, lengths or values is replaced by that of the claimed nodes which is farthest off. A least count of none is left to dropping the constraint.
#+ example: The shape wants two labels, all nodes have one; it asks for one from now on.
#+ families: shape-everywhere shape-every-value duplicate-sources
#+ components: MinCount MaxCount MinLength MaxLength MinInclusive MaxInclusive
#+ region: shape
#+ operation: replace
#+ mends: shapes
#+ order: 72
#+ reads: graph, shapes
#+ writes: shapes
#+ param nodes: pattern, binds ?focus to the nodes that fail
#+ param shape: iri, the nearest shape with a name
#+ param predicate: iri, the predicate of the constrained path
#+ param parameter: iri, the parameter with the number
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH work:shapes { ?inner {{ parameter }} ?old . } }
INSERT { GRAPH work:shapes { ?inner {{ parameter }} ?new . } }
WHERE {
  GRAPH work:shapes { {{ shape }} sh:property* ?inner . ?inner sh:path {{ predicate }} ; {{ parameter }} ?old . }
  { SELECT (MIN(?number) AS ?fewest) (MAX(?number) AS ?most) WHERE {
    { SELECT ?focus (COUNT(DISTINCT ?value) AS ?number) WHERE { {{ nodes }} OPTIONAL { ?focus {{ predicate }} ?value . } } GROUP BY ?focus } } }
  { SELECT (MIN(STRLEN(STR(?text))) AS ?shortest) (MAX(STRLEN(STR(?text))) AS ?longest) (MIN(?text) AS ?least) (MAX(?text) AS ?greatest) WHERE {
    {{ nodes }} ?focus {{ predicate }} ?text . } }
  BIND (IF({{ parameter }} = sh:minCount, ?fewest, IF({{ parameter }} = sh:maxCount, ?most,
    IF({{ parameter }} = sh:minLength, ?shortest, IF({{ parameter }} = sh:maxLength, ?longest,
    IF({{ parameter }} = sh:minInclusive, ?least, ?greatest))))) AS ?new)
  FILTER (?new != ?old && !({{ parameter }} = sh:minCount && ?new = 0))
}
