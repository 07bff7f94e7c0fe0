"""Is it right? The proof, the first step that differs from other numbers, and the mistake that explains it."""
