"""How a test of a kind is read.

A kind is a query in `queries/test/`, and a module here of the same name only where SPARQL has no
arithmetic for it.
"""
