"""Repair: what could mend a cause, tried on a scratch copy that is put back as it was.

A repair is a file of `queries/repair/`: a SPARQL UPDATE with a header that declares what kind of
thing it changes and how. `catalogue` finds those that fit a hypothesis, `update` turns an update
into the rows of its changes, `scratch` makes and unmakes them, `touched` and `validation` say which
nodes have to be looked at again and what they violate, `scope` what was changed that should not
have been, and `trial` puts it all together.
"""
