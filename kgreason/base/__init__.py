"""Base: errors, terms, templates, statistics, and the one place that speaks SPARQL."""
