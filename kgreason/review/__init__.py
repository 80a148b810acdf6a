"""Looking again at what was recorded: other policies, less evidence, the same run, newer data."""
