"""Attention itself: operations with five faces, scores, masks, positions, the plan of a layer, attend, attend_qkv."""
