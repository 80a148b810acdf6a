"""Computation: tests that somebody designed: queries of their own, and code over query results."""
