#+ summary: Writes a text that stands for "not known".
#+ title: Sentinel text
#+ explanation: The texts of the corrupted nodes become one text that means nothing.
#+ example: Missing codes are delivered as N/A.
#+ cause: value
#+ components: Pattern
#+ values: text
#+ corrupts: focus
#+ param predicate: iri, the predicate of the constraint that is to be broken
#+ param sentinel: literal, the text
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?wrong . } }
WHERE {
  GRAPH work:marks { ?focus work:corrupted work:fault . }
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value))
  BIND (IF(LANG(?value) != "", STRLANG({{ sentinel }}, LANG(?value)), STR({{ sentinel }})) AS ?wrong)
}
