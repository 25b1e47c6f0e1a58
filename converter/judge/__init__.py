"""From differences to verdicts: of tensors, of pairs, and the first divergence, under a policy (docs/judging.md)."""
