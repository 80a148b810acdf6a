#+ summary: Leaves out what is said of the things pointed at.
#+ title: Dropped reference
#+ explanation: The corrupted things lose their whole description.
#+ example: The register was never loaded.
#+ cause: reference
#+ components: Class
#+ values: thing
#+ corrupts: value
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing ?property ?value . } }
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing ?property ?value . }
  FILTER (?property != work:corrupted)
}
