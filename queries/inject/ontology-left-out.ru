#+ summary: Types what is pointed at by a subclass that only an ontology not given knows.
#+ title: Ontology left out
#+ explanation: The corrupted things are typed by a class below the right one; the graphs that hold them import the ontology that says so, and it is not there.
#+ example: The run was started without the vocabulary.
#+ cause: artefact
#+ components: Class
#+ values: thing
#+ corrupts: value
#+ param class: iri, the class that the constraint asks for
#+ param other: iri, the class below
#+ param ontology: iri, the ontology that is imported
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH ?graph { ?thing a {{ class }} . } }
INSERT { GRAPH ?graph { ?thing a {{ other }} . ?graph a owl:Ontology ; owl:imports {{ ontology }} . } }
WHERE {
  GRAPH work:marks { ?thing work:corrupted work:fault . }
  GRAPH ?graph { ?thing a {{ class }} . }
}
