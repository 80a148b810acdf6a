"""kgreason."""
