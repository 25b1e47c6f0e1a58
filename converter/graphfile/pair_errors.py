"""Section "errors/outputs": the error of each statistic a pair, so that the viewer can search by one without fetching every block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from converter.compare.columns import Comparison
from converter.dumps.columns import MAX, MEAN, MIN, NORM, Role
from converter.graphfile import graph_pb2
from converter.graphfile.columns import F32, pack
from converter.judge import reasons
from converter.judge.verdict import Status, Verdicts

SECTION = "errors/outputs"
AS_THE_PAIR = -1.0


def output_errors(comparison: Comparison, verdicts: Verdicts) -> NDArray[np.float64]:
    """[pairs, 4] largest error of Max, Min, Mean, Norm among the outputs and gradients that `Verdicts.error` counts; NaN = not measured."""
    both = (comparison.target_row >= 0) & (comparison.golden_row >= 0)
    judged = (verdicts.row_status >= Status.PASS) & (verdicts.row_status <= Status.ERROR)
    noise = (verdicts.row_reasons & np.uint32(1 << reasons.NOISE.code)) != 0
    output = np.isin(comparison.target.role[comparison.target_row], (Role.OUTPUT, Role.GRADIENT))
    rows = np.flatnonzero(both & judged & ~noise & output)
    pair = comparison.pair_of_row()[rows]
    result = np.full((len(verdicts.status), 4), -1.0)
    for statistic in range(4):
        error = comparison.errors[rows, statistic]
        known = ~np.isnan(error)
        np.maximum.at(result[:, statistic], pair[known], error[known])
    return np.where(result < 0, np.nan, result)


def encode_output_errors(comparison: Comparison, verdicts: Verdicts) -> graph_pb2.PairErrors:
    """The four columns. What equals the pair's error is written as one number, which halves the section."""
    errors = output_errors(comparison, verdicts).astype(np.float32)
    columns = np.where(errors == verdicts.error[:, None], np.float32(AS_THE_PAIR), errors)
    return graph_pb2.PairErrors(
        pair_count=len(errors),
        max=pack(columns[:, MAX], F32),
        min=pack(columns[:, MIN], F32),
        mean=pack(columns[:, MEAN], F32),
        norm=pack(columns[:, NORM], F32),
    )
