#+ summary: Gives texts the language that their node lacks and nearly all others have.
#+ title: Cast to a language
#+ does: give the texts of {predicate} the language that they lack
#+ explanation: The plain text of a claimed node gets the language that nine in ten values of the property have (of those that the shape lists, where it lists some), or else the one language that nine in ten nodes have a text in and this node has not. Where the shape lists a single language and nothing has it, it is that one. Several such languages, or several plain texts where the property is in several languages, are obstacles. What has a tag already is left alone, for no cast translates.
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
  { SELECT ?language (COUNT(DISTINCT ?any) AS ?has) (COUNT(?any) AS ?times) WHERE {
    { ?any {{ predicate }} ?known . FILTER (LANG(?known) != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(LANG(?known), {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %})
      BIND (LANG(?known) AS ?language) }
    {% if languages|length == 1 %} UNION { {% for l in languages %}BIND ({{ l }} AS ?language){% endfor %} } {% endif %}
  } GROUP BY ?language }
  { SELECT (COUNT(DISTINCT ?any) AS ?all) (COUNT(?any) AS ?values) WHERE {
    ?any {{ predicate }} ?known . FILTER (LANG(?known) != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(LANG(?known), {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %})
  } }
  BIND (?times * 10 >= ?values * 9 AS ?alone)
  FILTER (?alone || (?has * 10 >= ?all * 9 && NOT EXISTS { ?focus {{ predicate }} ?own . FILTER (LANG(?own) = ?language) }))
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && LANG(?value) = "" && DATATYPE(?value) = xsd:string)
  BIND (STRLANG(STR(?value), ?language) AS ?cast)
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle ?why . } }
WHERE {
  { {{ nodes }}
    ?focus {{ predicate }} ?value , ?other .
    FILTER (LANG(?value) = "" && LANG(?other) != "" && STR(?value) = STR(?other))
    BIND ("it has the same text in that language already" AS ?why) }
  UNION
  { { SELECT ?focus (COUNT(DISTINCT ?language) AS ?choices) (MAX(IF(?alone, 1, 0)) AS ?single) WHERE {
      {{ nodes }}
      OPTIONAL {
        { SELECT ?language (COUNT(DISTINCT ?any) AS ?has) (COUNT(?any) AS ?times) WHERE {
          { ?any {{ predicate }} ?known . FILTER (LANG(?known) != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(LANG(?known), {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %})
            BIND (LANG(?known) AS ?language) }
          {% if languages|length == 1 %} UNION { {% for l in languages %}BIND ({{ l }} AS ?language){% endfor %} } {% endif %}
        } GROUP BY ?language }
        { SELECT (COUNT(DISTINCT ?any) AS ?all) (COUNT(?any) AS ?values) WHERE {
          ?any {{ predicate }} ?known . FILTER (LANG(?known) != "" {% if languages %}&& ({% for l in languages %}LANGMATCHES(LANG(?known), {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}){% endif %})
        } }
        BIND (?times * 10 >= ?values * 9 AS ?alone)
        FILTER (?alone || (?has * 10 >= ?all * 9 && NOT EXISTS { ?focus {{ predicate }} ?own . FILTER (LANG(?own) = ?language) }))
      }
    } GROUP BY ?focus }
    FILTER (?choices != 1 || (COALESCE(?single, 0) = 0 && EXISTS {
      ?focus {{ predicate }} ?one , ?two .
      FILTER (LANG(?one) = "" && LANG(?two) = "" && DATATYPE(?one) = xsd:string && DATATYPE(?two) = xsd:string && STR(?one) < STR(?two)) }))
    BIND ("which language its text is in the others do not say" AS ?why) }
}
