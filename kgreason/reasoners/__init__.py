"""Who thinks: proposes hypotheses and designs tests. `symbolic` needs no model."""
