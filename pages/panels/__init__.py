"""UI parts that several pages share: maps, charts, an opened step, controls, proofs."""
