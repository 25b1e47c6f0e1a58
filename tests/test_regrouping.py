"""Tensors fused on both sides, in another order: the order is found by values, named, and applied again by its name."""

from __future__ import annotations

import numpy as np
import pytest
from random_tensors import noise, tensor

from converter.compare.regrouping import regroup, regrouped_as


def stacked_and_grouped(heads: int, queries: int, size: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """One QKV weight [(queries + 2) * heads * size, width]: q | k | v, and group by group."""
    parts = [noise(heads, each * size, width) for each in (queries, 1, 1)]
    return np.concatenate([part.reshape(-1, width) for part in parts]), np.concatenate(parts, axis=1).reshape(-1, width)


@pytest.mark.parametrize("queries", [1, 4])
def test_stacked_query_key_value_against_group_by_group(queries: int) -> None:
    stacked, grouped = stacked_and_grouped(4, queries, 16, 48)
    for target, golden in ((stacked, grouped), (grouped, stacked), (grouped, np.ascontiguousarray(stacked.T))):
        found = regroup(tensor(target), tensor(golden), 1e-5)
        assert found is not None
        np.testing.assert_array_equal(found[0].elements, target)
        again = regrouped_as(found[1], tensor(target), tensor(golden))
        assert again is not None
        np.testing.assert_array_equal(again.elements, target)
    assert found[1].endswith(f"axis 0 per group: 4 groups of {16 * queries}+16+16")


def test_exchanged_or_flipped_parts_are_no_other_order() -> None:
    stacked, grouped = stacked_and_grouped(4, 1, 16, 48)
    query, key, value = np.split(stacked, 3)
    assert regroup(tensor(np.concatenate([query, value, key])), tensor(grouped), 1e-5) is None
    assert regroup(tensor(stacked[::-1]), tensor(grouped), 1e-5) is None
    assert regroup(tensor(stacked * 1.01), tensor(grouped), 1e-5) is None
