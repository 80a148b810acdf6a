"""Hypothesize: from a symptom to frames of rival hypotheses."""
