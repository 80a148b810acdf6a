#+ summary: Asks for more values than anybody has.
#+ title: Over-strict shape: count
#+ explanation: The shape asks for one value more than nearly all nodes have; the data are left as they are.
#+ example: The shape wants two labels.
#+ cause: shape
#+ components: MinCount
#+ values: any
#+ corrupts: shape
#+ param shape: iri, the property shape
#+ param number: literal, how many values it asks for
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX work: <urn:x-kgreason:work:>
DELETE { GRAPH work:shapes { {{ shape }} sh:minCount ?old . } }
INSERT { GRAPH work:shapes { {{ shape }} sh:minCount {{ number }} . } }
WHERE { GRAPH work:shapes { {{ shape }} sh:minCount ?old . } }
