"""Parts of the interface that several pages use, such as maps, charts, an opened step, controls and proofs."""
