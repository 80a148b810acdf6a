#+ summary: Reads a text again that was read in the wrong encoding.
#+ title: Read in the right encoding
#+ does: read {predicate} again as UTF-8
#+ explanation: UTF-8 that was read as Latin-1 or Windows-1252 has two or three signs for one letter. They become the letter again: those of European languages in Latin script, with their dashes and quotation marks. A text in which such signs are left, in another script or with letters that were lost, stays as it is.
#+ example: "GÃ¤rtnerweg" becomes "Gärtnerweg".
#+ families: value-form
#+ region: literal-value
#+ operation: replace
#+ mends: data
#+ order: 35
#+ note: Replacing signs is all the decoding that SPARQL can do. The lead bytes U+00C4 and U+00C5 come before U+00C3, whose letters they are, and U+00C3 itself comes last, so that no letter just made is taken for half of another.
#+ reads: graph
#+ writes: graph
#+ param nodes: pattern, binds ?focus to the nodes that are mended
#+ param predicate: iri, the predicate of the constrained path
#+ param level: literal, the regular expression of the form
DELETE { GRAPH ?graph { ?focus {{ predicate }} ?value . } }
INSERT { GRAPH ?graph { ?focus {{ predicate }} ?mended . } }
WHERE {
  {{ nodes }}
  GRAPH ?graph { ?focus {{ predicate }} ?value . }
  FILTER (isLiteral(?value) && !isNumeric(?value) && REGEX(STR(?value), "[\u00C2-\u00C5\u00E2]") && REGEX(STR(?value), {{ level }}))
  BIND (STR(?value) AS ?text0)
  # dashes, quotation marks, daggers, a bullet and an ellipsis
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text0, "\u00E2[\u0080\u20AC][\u0093\u201C]", "\u2013"), "\u00E2[\u0080\u20AC][\u0094\u201D]", "\u2014"), "\u00E2[\u0080\u20AC][\u0098\u02DC]", "\u2018"), "\u00E2[\u0080\u20AC][\u0099\u2122]", "\u2019"), "\u00E2[\u0080\u20AC][\u009A\u0161]", "\u201A"), "\u00E2[\u0080\u20AC][\u009C\u0153]", "\u201C"), "\u00E2[\u0080\u20AC]\u009D", "\u201D"), "\u00E2[\u0080\u20AC][\u009E\u017E]", "\u201E"), "\u00E2[\u0080\u20AC]\u00A0", "\u2020"), "\u00E2[\u0080\u20AC]\u00A2", "\u2022"), "\u00E2[\u0080\u20AC]\u00A6", "\u2026") AS ?text1)
  # signs from ¡ to ¿
  BIND (REPLACE(?text1, "\u00C2([\u00A0-\u00BF])", "$1") AS ?text2)
  # Ā to ď
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text2, "\u00C4[\u0080\u20AC]", "\u0100"), "\u00C4\u0081", "\u0101"), "\u00C4[\u0082\u201A]", "\u0102"), "\u00C4[\u0083\u0192]", "\u0103"), "\u00C4[\u0084\u201E]", "\u0104"), "\u00C4[\u0085\u2026]", "\u0105"), "\u00C4[\u0086\u2020]", "\u0106"), "\u00C4[\u0087\u2021]", "\u0107"), "\u00C4[\u0088\u02C6]", "\u0108"), "\u00C4[\u0089\u2030]", "\u0109"), "\u00C4[\u008A\u0160]", "\u010A"), "\u00C4[\u008B\u2039]", "\u010B"), "\u00C4[\u008C\u0152]", "\u010C"), "\u00C4\u008D", "\u010D"), "\u00C4[\u008E\u017D]", "\u010E"), "\u00C4\u008F", "\u010F") AS ?text3)
  # Đ to ğ
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text3, "\u00C4\u0090", "\u0110"), "\u00C4[\u0091\u2018]", "\u0111"), "\u00C4[\u0092\u2019]", "\u0112"), "\u00C4[\u0093\u201C]", "\u0113"), "\u00C4[\u0094\u201D]", "\u0114"), "\u00C4[\u0095\u2022]", "\u0115"), "\u00C4[\u0096\u2013]", "\u0116"), "\u00C4[\u0097\u2014]", "\u0117"), "\u00C4[\u0098\u02DC]", "\u0118"), "\u00C4[\u0099\u2122]", "\u0119"), "\u00C4[\u009A\u0161]", "\u011A"), "\u00C4[\u009B\u203A]", "\u011B"), "\u00C4[\u009C\u0153]", "\u011C"), "\u00C4\u009D", "\u011D"), "\u00C4[\u009E\u017E]", "\u011E"), "\u00C4[\u009F\u0178]", "\u011F") AS ?text4)
  # Ġ to į
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text4, "\u00C4\u00A0", "\u0120"), "\u00C4\u00A1", "\u0121"), "\u00C4\u00A2", "\u0122"), "\u00C4\u00A3", "\u0123"), "\u00C4\u00A4", "\u0124"), "\u00C4\u00A5", "\u0125"), "\u00C4\u00A6", "\u0126"), "\u00C4\u00A7", "\u0127"), "\u00C4\u00A8", "\u0128"), "\u00C4\u00A9", "\u0129"), "\u00C4\u00AA", "\u012A"), "\u00C4\u00AB", "\u012B"), "\u00C4\u00AC", "\u012C"), "\u00C4\u00AD", "\u012D"), "\u00C4\u00AE", "\u012E"), "\u00C4\u00AF", "\u012F") AS ?text5)
  # İ to Ŀ
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text5, "\u00C4\u00B0", "\u0130"), "\u00C4\u00B1", "\u0131"), "\u00C4\u00B2", "\u0132"), "\u00C4\u00B3", "\u0133"), "\u00C4\u00B4", "\u0134"), "\u00C4\u00B5", "\u0135"), "\u00C4\u00B6", "\u0136"), "\u00C4\u00B7", "\u0137"), "\u00C4\u00B8", "\u0138"), "\u00C4\u00B9", "\u0139"), "\u00C4\u00BA", "\u013A"), "\u00C4\u00BB", "\u013B"), "\u00C4\u00BC", "\u013C"), "\u00C4\u00BD", "\u013D"), "\u00C4\u00BE", "\u013E"), "\u00C4\u00BF", "\u013F") AS ?text6)
  # ŀ to ŏ
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text6, "\u00C5[\u0080\u20AC]", "\u0140"), "\u00C5\u0081", "\u0141"), "\u00C5[\u0082\u201A]", "\u0142"), "\u00C5[\u0083\u0192]", "\u0143"), "\u00C5[\u0084\u201E]", "\u0144"), "\u00C5[\u0085\u2026]", "\u0145"), "\u00C5[\u0086\u2020]", "\u0146"), "\u00C5[\u0087\u2021]", "\u0147"), "\u00C5[\u0088\u02C6]", "\u0148"), "\u00C5[\u0089\u2030]", "\u0149"), "\u00C5[\u008A\u0160]", "\u014A"), "\u00C5[\u008B\u2039]", "\u014B"), "\u00C5[\u008C\u0152]", "\u014C"), "\u00C5\u008D", "\u014D"), "\u00C5[\u008E\u017D]", "\u014E"), "\u00C5\u008F", "\u014F") AS ?text7)
  # Ő to ş
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text7, "\u00C5\u0090", "\u0150"), "\u00C5[\u0091\u2018]", "\u0151"), "\u00C5[\u0092\u2019]", "\u0152"), "\u00C5[\u0093\u201C]", "\u0153"), "\u00C5[\u0094\u201D]", "\u0154"), "\u00C5[\u0095\u2022]", "\u0155"), "\u00C5[\u0096\u2013]", "\u0156"), "\u00C5[\u0097\u2014]", "\u0157"), "\u00C5[\u0098\u02DC]", "\u0158"), "\u00C5[\u0099\u2122]", "\u0159"), "\u00C5[\u009A\u0161]", "\u015A"), "\u00C5[\u009B\u203A]", "\u015B"), "\u00C5[\u009C\u0153]", "\u015C"), "\u00C5\u009D", "\u015D"), "\u00C5[\u009E\u017E]", "\u015E"), "\u00C5[\u009F\u0178]", "\u015F") AS ?text8)
  # Š to ů
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text8, "\u00C5\u00A0", "\u0160"), "\u00C5\u00A1", "\u0161"), "\u00C5\u00A2", "\u0162"), "\u00C5\u00A3", "\u0163"), "\u00C5\u00A4", "\u0164"), "\u00C5\u00A5", "\u0165"), "\u00C5\u00A6", "\u0166"), "\u00C5\u00A7", "\u0167"), "\u00C5\u00A8", "\u0168"), "\u00C5\u00A9", "\u0169"), "\u00C5\u00AA", "\u016A"), "\u00C5\u00AB", "\u016B"), "\u00C5\u00AC", "\u016C"), "\u00C5\u00AD", "\u016D"), "\u00C5\u00AE", "\u016E"), "\u00C5\u00AF", "\u016F") AS ?text9)
  # Ű to ſ
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text9, "\u00C5\u00B0", "\u0170"), "\u00C5\u00B1", "\u0171"), "\u00C5\u00B2", "\u0172"), "\u00C5\u00B3", "\u0173"), "\u00C5\u00B4", "\u0174"), "\u00C5\u00B5", "\u0175"), "\u00C5\u00B6", "\u0176"), "\u00C5\u00B7", "\u0177"), "\u00C5\u00B8", "\u0178"), "\u00C5\u00B9", "\u0179"), "\u00C5\u00BA", "\u017A"), "\u00C5\u00BB", "\u017B"), "\u00C5\u00BC", "\u017C"), "\u00C5\u00BD", "\u017D"), "\u00C5\u00BE", "\u017E"), "\u00C5\u00BF", "\u017F") AS ?text10)
  # À to Ð
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text10, "\u00C3[\u0080\u20AC]", "\u00C0"), "\u00C3\u0081", "\u00C1"), "\u00C3[\u0082\u201A]", "\u00C2"), "\u00C3[\u0084\u201E]", "\u00C4"), "\u00C3[\u0085\u2026]", "\u00C5"), "\u00C3[\u0086\u2020]", "\u00C6"), "\u00C3[\u0087\u2021]", "\u00C7"), "\u00C3[\u0088\u02C6]", "\u00C8"), "\u00C3[\u0089\u2030]", "\u00C9"), "\u00C3[\u008A\u0160]", "\u00CA"), "\u00C3[\u008B\u2039]", "\u00CB"), "\u00C3[\u008C\u0152]", "\u00CC"), "\u00C3\u008D", "\u00CD"), "\u00C3[\u008E\u017D]", "\u00CE"), "\u00C3\u008F", "\u00CF"), "\u00C3\u0090", "\u00D0") AS ?text11)
  # Ñ to à
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text11, "\u00C3[\u0091\u2018]", "\u00D1"), "\u00C3[\u0092\u2019]", "\u00D2"), "\u00C3[\u0093\u201C]", "\u00D3"), "\u00C3[\u0094\u201D]", "\u00D4"), "\u00C3[\u0095\u2022]", "\u00D5"), "\u00C3[\u0096\u2013]", "\u00D6"), "\u00C3[\u0097\u2014]", "\u00D7"), "\u00C3[\u0098\u02DC]", "\u00D8"), "\u00C3[\u0099\u2122]", "\u00D9"), "\u00C3[\u009A\u0161]", "\u00DA"), "\u00C3[\u009B\u203A]", "\u00DB"), "\u00C3[\u009C\u0153]", "\u00DC"), "\u00C3\u009D", "\u00DD"), "\u00C3[\u009E\u017E]", "\u00DE"), "\u00C3[\u009F\u0178]", "\u00DF"), "\u00C3\u00A0", "\u00E0") AS ?text12)
  # á to ð
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text12, "\u00C3\u00A1", "\u00E1"), "\u00C3\u00A2", "\u00E2"), "\u00C3\u00A3", "\u00E3"), "\u00C3\u00A4", "\u00E4"), "\u00C3\u00A5", "\u00E5"), "\u00C3\u00A6", "\u00E6"), "\u00C3\u00A7", "\u00E7"), "\u00C3\u00A8", "\u00E8"), "\u00C3\u00A9", "\u00E9"), "\u00C3\u00AA", "\u00EA"), "\u00C3\u00AB", "\u00EB"), "\u00C3\u00AC", "\u00EC"), "\u00C3\u00AD", "\u00ED"), "\u00C3\u00AE", "\u00EE"), "\u00C3\u00AF", "\u00EF"), "\u00C3\u00B0", "\u00F0") AS ?text13)
  # ñ to Ã
  BIND (REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(?text13, "\u00C3\u00B1", "\u00F1"), "\u00C3\u00B2", "\u00F2"), "\u00C3\u00B3", "\u00F3"), "\u00C3\u00B4", "\u00F4"), "\u00C3\u00B5", "\u00F5"), "\u00C3\u00B6", "\u00F6"), "\u00C3\u00B7", "\u00F7"), "\u00C3\u00B8", "\u00F8"), "\u00C3\u00B9", "\u00F9"), "\u00C3\u00BA", "\u00FA"), "\u00C3\u00BB", "\u00FB"), "\u00C3\u00BC", "\u00FC"), "\u00C3\u00BD", "\u00FD"), "\u00C3\u00BE", "\u00FE"), "\u00C3\u00BF", "\u00FF"), "\u00C3[\u0083\u0192]", "\u00C3") AS ?text14)
  FILTER (?text14 != ?text0 && !REGEX(?text14, {{ level }}))
  BIND (IF(LANG(?value) != "", STRLANG(?text14, LANG(?value)), STRDT(?text14, DATATYPE(?value))) AS ?mended)
}
