#+ summary: Points at the term that took the place of one out of use.
#+ title: Follow a replacement
#+ does: point by {dimension} at the terms that took the place of those out of use
#+ explanation: Where the graph says what a term was replaced by, claimed nodes point at that in its stead; of a chain of replacements, at its end. A term that was replaced by several, by none in the end, or by what is no IRI, is an obstacle: which one is meant nobody has said.
#+ example: Units point at the new name of their quantity kind.
#+ families: reference-replaced
#+ region: property-assertion
#+ operation: replace
#+ mends: data
#+ order: 12
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param dimension: iri, the property that points at the terms
#+ param level: iri, the term, or dct:isReplacedBy for all that are replaced
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX schema: <http://schema.org/>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ dimension }} ?old . } }
INSERT { GRAPH ?graph { ?focus {{ dimension }} ?new . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ dimension }} ?old . }
  FILTER ({{ level }} = dct:isReplacedBy || {{ level }} = ?old)
  { SELECT ?old (SAMPLE(?last) AS ?new) WHERE {
    ?old (dct:isReplacedBy|^dct:replaces|schema:supersededBy|<https://schema.org/supersededBy>|<http://purl.obolibrary.org/obo/IAO_0100001>)+ ?last .
    FILTER NOT EXISTS { ?last dct:isReplacedBy|^dct:replaces|schema:supersededBy|<https://schema.org/supersededBy>|<http://purl.obolibrary.org/obo/IAO_0100001> ?further . }
  } GROUP BY ?old HAVING (COUNT(DISTINCT ?last) = 1) }
  FILTER (isIRI(?new))
}
#= obstacles
INSERT { GRAPH work:marks { ?focus work:obstacle "the graph does not name one term that took the place of the old one" . } }
WHERE {
  {{ nodes }}
  ?focus {{ dimension }} ?old .
  FILTER ({{ level }} = dct:isReplacedBy || {{ level }} = ?old)
  ?old dct:isReplacedBy|^dct:replaces|schema:supersededBy|<https://schema.org/supersededBy>|<http://purl.obolibrary.org/obo/IAO_0100001> ?any .
  OPTIONAL { { SELECT ?old (COUNT(DISTINCT ?last) AS ?ends) (SAMPLE(?last) AS ?one) WHERE {
    ?old (dct:isReplacedBy|^dct:replaces|schema:supersededBy|<https://schema.org/supersededBy>|<http://purl.obolibrary.org/obo/IAO_0100001>)+ ?last .
    FILTER NOT EXISTS { ?last dct:isReplacedBy|^dct:replaces|schema:supersededBy|<https://schema.org/supersededBy>|<http://purl.obolibrary.org/obo/IAO_0100001> ?further . }
  } GROUP BY ?old } }
  FILTER (COALESCE(?ends, 0) != 1 || !isIRI(?one))
}
