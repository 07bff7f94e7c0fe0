"""Parts of the interface that several pages use: attention maps, charts, an opened step, controls, proofs."""
