#+ summary: Gives texts the language that nearly all others have.
#+ title: Cast to a language
#+ explanation: Plain texts of claimed nodes get the language tag that nine in ten tagged values of the same property carry, of those that the shape lists where it lists some; where it lists a single one and nothing has it, that one. What has a tag already is left alone, for no cast translates.
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
#+ param languages: terms, the languages that the shape lists, if it does
PREFIX work: <urn:x-kgreason:work:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?cast . } }
WHERE {
  {{ nodes }}
  { SELECT ?language (SUM(?one) AS ?times) WHERE {
    { ?any {{ predicate }} ?known . BIND (LANG(?known) AS ?language) BIND (1 AS ?one)
      FILTER (?language != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(?language, {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %}) }
    {% if languages|length == 1 %} UNION { {% for l in languages %}BIND ({{ l }} AS ?language){% endfor %} BIND (0 AS ?one) } {% endif %}
  } GROUP BY ?language ORDER BY DESC(?times) ?language LIMIT 1 }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && LANG(?value) = "" && DATATYPE(?value) = xsd:string)
  BIND (STRLANG(STR(?value), ?language) AS ?cast)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle ?why . } }
WHERE {
  {{ nodes }}
  { ?focus {{ predicate }} ?value , ?other .
    FILTER (LANG(?value) = "" && LANG(?other) != "" && STR(?value) = STR(?other))
    BIND ("it has the same text in that language already" AS ?why) }
  UNION
  { { SELECT (SUM(?times) AS ?all) (MAX(?times) AS ?most) WHERE {
      { SELECT ?language (COUNT(*) AS ?times) WHERE {
        ?any {{ predicate }} ?known . BIND (LANG(?known) AS ?language)
        FILTER (?language != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(?language, {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %})
      } GROUP BY ?language }
    } }
    FILTER (?most * 10 < ?all * 9)
    BIND ("values of the property are in several languages" AS ?why) }
}
