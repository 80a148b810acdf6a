#+ summary: Gives the things pointed at another class.
#+ title: Retyped reference
#+ explanation: The corrupted things change their class.
#+ example: Certificates were loaded as plain documents.
#+ cause: reference
#+ components: Class
#+ values: thing
#+ corrupts: value
#+ param class: iri, the class that the constraint asks for
#+ param other: iri, the class given instead
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing a {{ class }} . } }
INSERT { GRAPH ?graph { ?thing a {{ other }} . } }
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing a {{ class }} . }
}
