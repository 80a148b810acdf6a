"""Report: everything that is told about an investigation, read from its record alone.

`result` gives the JSON contract, `markdown` and `html` a report to read, `turtle` the record
itself, `history` answers to stored questions. What a report says is in `queries/report/`: one file
is one section.
"""
