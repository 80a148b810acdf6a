#+ summary: Gives texts the language tag that the shape lists for their language.
#+ title: Cast a language tag
#+ does: give the texts of {predicate} the language tag that the shape lists
#+ explanation: A tag that the shape does not list becomes the listed one of the same language: a code of three letters the one of two (with its region, where any will do), a language without a region the only listed region of it. A text in another region's form or another language is left alone, for no cast translates.
#+ example: "Zug"@ger becomes "Zug"@de, as the shape has it.
#+ families: datatype
#+ components: LanguageIn
#+ needs: tagged
#+ region: literal-value
#+ operation: cast
#+ mends: data
#+ order: 21
#+ note: The codes of three letters are those of ISO 639-2 for languages in common use that have one of two letters.
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param languages: terms, the languages that the shape lists
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?cast . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && LANG(?value) != "")
  FILTER (!({% for l in languages %}LANGMATCHES(LANG(?value), {{ l }}){% if not loop.last %} || {% endif %}{% endfor %}))
  BIND (LCASE(LANG(?value)) AS ?tag)
  BIND (REPLACE(?tag, "-.*$", "") AS ?first)
  OPTIONAL { VALUES (?first ?two) {
    ("ara" "ar") ("bel" "be") ("ben" "bn") ("bul" "bg") ("cat" "ca") ("ces" "cs") ("cze" "cs") ("chi" "zh") ("zho" "zh") ("cym" "cy") ("wel" "cy")
    ("dan" "da") ("deu" "de") ("ger" "de") ("ell" "el") ("gre" "el") ("eng" "en") ("est" "et") ("eus" "eu") ("baq" "eu") ("fas" "fa") ("per" "fa")
    ("fin" "fi") ("fra" "fr") ("fre" "fr") ("gle" "ga") ("glg" "gl") ("heb" "he") ("hin" "hi") ("hrv" "hr") ("hun" "hu") ("hye" "hy") ("arm" "hy")
    ("ind" "id") ("isl" "is") ("ice" "is") ("ita" "it") ("jpn" "ja") ("kat" "ka") ("geo" "ka") ("kor" "ko") ("lat" "la") ("lav" "lv") ("lit" "lt")
    ("ltz" "lb") ("mkd" "mk") ("mac" "mk") ("mlt" "mt") ("msa" "ms") ("may" "ms") ("nld" "nl") ("dut" "nl") ("nno" "nn") ("nob" "nb") ("nor" "no")
    ("pol" "pl") ("por" "pt") ("ron" "ro") ("rum" "ro") ("rus" "ru") ("slk" "sk") ("slo" "sk") ("slv" "sl") ("spa" "es") ("sqi" "sq") ("alb" "sq")
    ("srp" "sr") ("swe" "sv") ("tha" "th") ("tur" "tr") ("ukr" "uk") ("urd" "ur") ("vie" "vi")
  } }
  BIND (COALESCE(?two, ?first) AS ?language)
  BIND (CONCAT(?language, SUBSTR(?tag, STRLEN(?first) + 1)) AS ?short)
  { SELECT ?language (SAMPLE(?one) AS ?listed) (COUNT(?one) AS ?choices) WHERE {
    VALUES ?given { {{ languages | rows }} }
    BIND (LCASE(?given) AS ?one)
    BIND (REPLACE(?one, "-.*$", "") AS ?language)
  } GROUP BY ?language }
  BIND ({% for l in languages %}LANGMATCHES(?short, {{ l }}){% if not loop.last %} || {% endif %}{% endfor %} AS ?fits)
  BIND (IF(?fits, ?short, IF(?short = ?language && ?choices = 1, ?listed, ?never)) AS ?new)
  FILTER (BOUND(?new))
  BIND (STRLANG(STR(?value), ?new) AS ?cast)
}
