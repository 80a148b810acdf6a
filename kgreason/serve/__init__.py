"""The explorer: a site over ledgers with pages, the SPARQL 1.1 Protocol, verdicts and events.

It needs the extra `serve` (Starlette and uvicorn). It reads snapshots, and writes verdicts alone.
"""
