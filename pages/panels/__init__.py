"""What several pages show: maps, charts, an opened step, controls, proofs."""
