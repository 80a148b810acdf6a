"""Decide: from confidence to status, verdict and claims."""
