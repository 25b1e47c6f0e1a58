"""The catalogue of reasons: code, severity and sentence in two languages. Viewer, reports and docs print these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One kind of finding about a row. `{name}` in a sentence is an argument of the row's note, `{name_zh}` its Chinese text."""

    code: int  # 0..31: the bit in reason masks; never reused for something else (16 was one that no row ever had)
    id: str
    severity: str  # the status it leads to where the policy says nothing else: note | warning | error | not_comparable
    en: str
    zh: str


STATISTICS = Reason(
    0,
    "statistics",
    "error",
    "{statistic} differs: {target} against {golden}, error {error}, tolerance {tolerance}",
    "{statistic} 不一致：{target} 对 {golden}，误差 {error}，容差 {tolerance}",
)
NONFINITE = Reason(
    1, "nonfinite", "error", "{statistic} is {target} where golden has {golden}", "{statistic} 为 {target}，而标杆为 {golden}"
)
NONFINITE_BOTH = Reason(
    2,
    "nonfinite_both",
    "note",
    "the same non-finite values on both sides ({statistic} = {target})",
    "两侧非有限值相同（{statistic} = {target}）",
)
VALUE = Reason(3, "value", "error", "value {target} against {golden}", "取值不同：{target} 对 {golden}")
DTYPE = Reason(4, "dtype", "warning", "dtype {target} against {golden}", "数据类型不同：{target} 对 {golden}")
SHAPE = Reason(5, "shape", "error", "shape [{target}] against [{golden}]", "形状不同：[{target}] 对 [{golden}]")
LAYOUT = Reason(6, "layout", "note", "same elements, other layout: [{target}] ~ [{golden}]", "元素相同，布局不同：[{target}] ~ [{golden}]")
MISSING = Reason(7, "missing", "error", "only {side} has it", "仅{side}侧存在")
REQUIRES_GRAD = Reason(8, "requires_grad", "warning", "requires_grad {target} against {golden}", "requires_grad 不同：{target} 对 {golden}")
CHECKSUM = Reason(9, "checksum", "error", "checksum {target} against {golden}", "校验和不同：{target} 对 {golden}")
DIFFERENT_KIND = Reason(
    10,
    "different_kind",
    "not_comparable",
    "cannot be compared, different things: {target} against {golden}",
    "无法比较，含义不同：{target_zh} 对 {golden_zh}",
)
NOT_AVAILABLE = Reason(11, "not_available", "not_comparable", "cannot be compared: {why}", "无法比较：{why_zh}")
PRECISION = Reason(
    12,
    "precision",
    "note",
    "dtype {target} against {golden}; the numbers agree within the less precise one",
    "数据类型 {target} 对 {golden}，数值在较低精度内一致",
)
NOISE = Reason(
    13,
    "noise",
    "note",
    "both sides are rounding noise: {target} and {golden} where {scale} was added up",
    "两侧均为舍入噪声：{target} 与 {golden}，而参与累加的量级为 {scale}",
)
IGNORED = Reason(14, "ignored", "note", "not judged by policy: {why}", "按策略不判定：{why_zh}")
OTHER_CODE = Reason(15, "other_code", "note", "only {side} has it; the pair joins different code", "仅{side}侧存在；两侧实现不同")
SHARDED = Reason(
    17,
    "sharded",
    "not_comparable",
    "cannot be compared: sharded, [{target}] against [{golden}]",
    "无法比较：已切分，[{target}] 对 [{golden}]",
)
TENSOR = Reason(
    18,
    "tensor",
    "error",
    "elements differ: relative norm error {error}, tolerance {tolerance}",
    "元素不一致：相对范数误差 {error}，容差 {tolerance}",
)

SCALED = Reason(19, "scaled", "note", "every statistic is {factor} × golden", "每个统计量均为标杆的 {factor} 倍")
NOT_MEASURED = Reason(
    20,
    "not_measured",
    "note",
    "judged by its statistics only, its elements could not be measured: {why}",
    "仅按统计量判定，无法逐元素测量：{why_zh}",
)

MASK_FILL = Reason(
    21,
    "mask_fill",
    "note",
    "masked with another number: {target} against {golden}; the largest values agree",
    "掩码填充值不同：{target} 对 {golden}，最大值一致",
)

DECOMPOSITION = Reason(
    22,
    "decomposition",
    "not_comparable",
    "cannot be compared: the two models are cut into other parts here; {module} around it agrees",
    "无法比较：两侧在此处的划分不同；外层 {module} 一致",
)

CATALOGUE: tuple[Reason, ...] = (
    STATISTICS,
    NONFINITE,
    NONFINITE_BOTH,
    VALUE,
    DTYPE,
    SHAPE,
    LAYOUT,
    MISSING,
    REQUIRES_GRAD,
    CHECKSUM,
    DIFFERENT_KIND,
    NOT_AVAILABLE,
    PRECISION,
    NOISE,
    IGNORED,
    OTHER_CODE,
    SHARDED,
    TENSOR,
    SCALED,
    NOT_MEASURED,
    MASK_FILL,
    DECOMPOSITION,
)
