"""Endpoint: a SPARQL endpoint as the graph, of which an extract is investigated."""
