#+ summary: Gives nodes the value of another node beside their own.
#+ title: Values of other nodes
#+ explanation: Nothing in the second value shows that it is the second: to say that a node has two restates the rule. Which of the others it is hangs on a digest of both.
#+ example: Records were merged by hand, each with another one.
#+ cause: none
#+ components: MaxCount
#+ values: iri text number
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
PREFIX work: <urn:x-kgreason:work:>
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?second . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  { SELECT ?focus (MIN(?digest) AS ?least) WHERE {
    GRAPH work:marks { ?focus work:corrupted work:fault . }
    GRAPH ?own { ?focus {{ predicate }} ?right . }
    { SELECT DISTINCT ?other WHERE { GRAPH ?any { ?node {{ predicate }} ?other . } } }
    FILTER (!sameTerm(?other, ?right))
    BIND (MD5(CONCAT(STR(?focus), " ", STR(?other))) AS ?digest)
  } GROUP BY ?focus }
  { SELECT DISTINCT ?second WHERE { GRAPH ?some { ?peer {{ predicate }} ?second . } } }
  FILTER (MD5(CONCAT(STR(?focus), " ", STR(?second))) = ?least)
}
