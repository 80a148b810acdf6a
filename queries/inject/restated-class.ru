#+ summary: Points at things that nothing describes, each at another one.
#+ title: Dangling references
#+ explanation: The corrupted nodes point at IRIs of which nothing is said; to say that these are not of the class restates the rule.
#+ example: References were typed by hand, each with a slip of its own.
#+ cause: reference none
#+ components: Class
#+ values: thing
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isIRI(?value))
  BIND (IRI(CONCAT(STR(?value), "-", SUBSTR(MD5(STR(?focus)), 1, 5))) AS ?wrong)
}
