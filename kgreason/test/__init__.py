"""Test: from a frame to evidence; tests are registered before they run."""
