"""Observe: from data and shapes to symptoms."""
