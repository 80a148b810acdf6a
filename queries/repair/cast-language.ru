#+ summary: Gives texts the language that most others have.
#+ title: Cast to a language
#+ explanation: Plain texts of claimed nodes get the language tag that most values of the same property carry. What has a tag already is left alone, for no cast translates.
#+ example: Labels that lost their tag on the way through a table become English again.
#+ families: datatype
#+ components: Datatype LanguageIn
#+ needs: tagged
#+ region: literal-value
#+ operation: cast
#+ mends: data
#+ order: 22
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?cast . } }
WHERE {
  {{ nodes }}
  { SELECT ?language (COUNT(*) AS ?times) WHERE { ?any {{ predicate }} ?known . BIND (LANG(?known) AS ?language) FILTER (?language != "") }
    GROUP BY ?language ORDER BY DESC(?times) ?language LIMIT 1 }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && LANG(?value) = "" && DATATYPE(?value) = xsd:string)
  BIND (STRLANG(STR(?value), ?language) AS ?cast)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "it has the same text in that language already" . } }
WHERE {
  {{ nodes }}
  ?focus {{ predicate }} ?value , ?other .
  FILTER (LANG(?value) = "" && LANG(?other) != "" && STR(?value) = STR(?other))
}
