"""The knowledge graph under investigation: read from files, never written back."""

from kgreason.graph.graph import Graph, Source
from kgreason.graph.load import digest, load

__all__ = ["Graph", "Source", "digest", "load"]
