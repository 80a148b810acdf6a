#+ summary: Asks for shorter texts than there are.
#+ title: Over-strict shape: length
#+ explanation: The shape allows fewer letters than nearly all texts have; the data are left as they are.
#+ example: The shape knows the short codes of long ago.
#+ cause: shape
#+ components: MaxLength
#+ values: text
#+ corrupts: shape
#+ param shape: iri, the property shape
#+ param number: literal, how many letters it allows
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH work:shapes { {{ shape }} sh:maxLength ?old . } }
INSERT { GRAPH work:shapes { {{ shape }} sh:maxLength {{ number }} . } }
WHERE { GRAPH work:shapes { {{ shape }} sh:maxLength ?old . } }
