from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Encoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENCODING_NONE: _ClassVar[Encoding]
    ENCODING_GZIP: _ClassVar[Encoding]

class NodeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NODE_KIND_ROOT: _ClassVar[NodeKind]
    NODE_KIND_MODULE: _ClassVar[NodeKind]
    NODE_KIND_API: _ClassVar[NodeKind]
    NODE_KIND_API_COLLECTION: _ClassVar[NodeKind]
    NODE_KIND_PARAMETERS_GRAD: _ClassVar[NodeKind]
    NODE_KIND_UNPLACED: _ClassVar[NodeKind]

class Direction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DIRECTION_NONE: _ClassVar[Direction]
    DIRECTION_FORWARD: _ClassVar[Direction]
    DIRECTION_BACKWARD: _ClassVar[Direction]

class Relation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RELATION_SAME: _ClassVar[Relation]
    RELATION_CONCAT: _ClassVar[Relation]
    RELATION_SUM: _ClassVar[Relation]
    RELATION_STACK: _ClassVar[Relation]

class How(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOW_EXACT: _ClassVar[How]
    HOW_MAPPING: _ClassVar[How]
    HOW_NORMALISED: _ClassVar[How]
    HOW_FUZZY: _ClassVar[How]
    HOW_STRUCTURAL: _ClassVar[How]
    HOW_MANUAL: _ClassVar[How]

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATUS_NONE: _ClassVar[Status]
    STATUS_PASS: _ClassVar[Status]
    STATUS_WARNING: _ClassVar[Status]
    STATUS_ERROR: _ClassVar[Status]
    STATUS_NOT_COMPARABLE: _ClassVar[Status]

class Cause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAUSE_NONE: _ClassVar[Cause]
    CAUSE_CLEAN: _ClassVar[Cause]
    CAUSE_PARAMETER: _ClassVar[Cause]
    CAUSE_INTRODUCED: _ClassVar[Cause]
    CAUSE_AMPLIFIED: _ClassVar[Cause]
    CAUSE_INHERITED: _ClassVar[Cause]
    CAUSE_RECOVERED: _ClassVar[Cause]

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_INPUT: _ClassVar[Role]
    ROLE_KWARG: _ClassVar[Role]
    ROLE_PARAMETER: _ClassVar[Role]
    ROLE_OUTPUT: _ClassVar[Role]
    ROLE_GRADIENT: _ClassVar[Role]

class LeafKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEAF_KIND_TENSOR: _ClassVar[LeafKind]
    LEAF_KIND_NUMBER: _ClassVar[LeafKind]
    LEAF_KIND_BOOL: _ClassVar[LeafKind]
    LEAF_KIND_TEXT: _ClassVar[LeafKind]
    LEAF_KIND_NONE: _ClassVar[LeafKind]
    LEAF_KIND_OTHER: _ClassVar[LeafKind]
ENCODING_NONE: Encoding
ENCODING_GZIP: Encoding
NODE_KIND_ROOT: NodeKind
NODE_KIND_MODULE: NodeKind
NODE_KIND_API: NodeKind
NODE_KIND_API_COLLECTION: NodeKind
NODE_KIND_PARAMETERS_GRAD: NodeKind
NODE_KIND_UNPLACED: NodeKind
DIRECTION_NONE: Direction
DIRECTION_FORWARD: Direction
DIRECTION_BACKWARD: Direction
RELATION_SAME: Relation
RELATION_CONCAT: Relation
RELATION_SUM: Relation
RELATION_STACK: Relation
HOW_EXACT: How
HOW_MAPPING: How
HOW_NORMALISED: How
HOW_FUZZY: How
HOW_STRUCTURAL: How
HOW_MANUAL: How
STATUS_NONE: Status
STATUS_PASS: Status
STATUS_WARNING: Status
STATUS_ERROR: Status
STATUS_NOT_COMPARABLE: Status
CAUSE_NONE: Cause
CAUSE_CLEAN: Cause
CAUSE_PARAMETER: Cause
CAUSE_INTRODUCED: Cause
CAUSE_AMPLIFIED: Cause
CAUSE_INHERITED: Cause
CAUSE_RECOVERED: Cause
ROLE_INPUT: Role
ROLE_KWARG: Role
ROLE_PARAMETER: Role
ROLE_OUTPUT: Role
ROLE_GRADIENT: Role
LEAF_KIND_TENSOR: LeafKind
LEAF_KIND_NUMBER: LeafKind
LEAF_KIND_BOOL: LeafKind
LEAF_KIND_TEXT: LeafKind
LEAF_KIND_NONE: LeafKind
LEAF_KIND_OTHER: LeafKind

class Header(_message.Message):
    __slots__ = ("major", "minor", "tool", "sections")
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    MINOR_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    major: int
    minor: int
    tool: str
    sections: _containers.RepeatedCompositeFieldContainer[Section]
    def __init__(self, major: _Optional[int] = ..., minor: _Optional[int] = ..., tool: _Optional[str] = ..., sections: _Optional[_Iterable[_Union[Section, _Mapping]]] = ...) -> None: ...

class Section(_message.Message):
    __slots__ = ("name", "offset", "stored_length", "raw_length", "crc32", "encoding")
    NAME_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    STORED_LENGTH_FIELD_NUMBER: _ClassVar[int]
    RAW_LENGTH_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    name: str
    offset: int
    stored_length: int
    raw_length: int
    crc32: int
    encoding: Encoding
    def __init__(self, name: _Optional[str] = ..., offset: _Optional[int] = ..., stored_length: _Optional[int] = ..., raw_length: _Optional[int] = ..., crc32: _Optional[int] = ..., encoding: _Optional[_Union[Encoding, str]] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("step", "rank", "target", "golden", "mode", "micro_steps", "pairs", "status", "causes", "forward", "backward", "parameters", "warnings", "reasons", "policy", "provenance", "mapping", "proposals", "overflow_check", "compared_tensors", "uncompared_parameters")
    STEP_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MICRO_STEPS_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CAUSES_FIELD_NUMBER: _ClassVar[int]
    FORWARD_FIELD_NUMBER: _ClassVar[int]
    BACKWARD_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    PROVENANCE_FIELD_NUMBER: _ClassVar[int]
    MAPPING_FIELD_NUMBER: _ClassVar[int]
    PROPOSALS_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_CHECK_FIELD_NUMBER: _ClassVar[int]
    COMPARED_TENSORS_FIELD_NUMBER: _ClassVar[int]
    UNCOMPARED_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    step: int
    rank: int
    target: Side
    golden: Side
    mode: str
    micro_steps: int
    pairs: PairCounts
    status: StatusCounts
    causes: CauseCounts
    forward: FirstDivergence
    backward: FirstDivergence
    parameters: _containers.RepeatedCompositeFieldContainer[ParameterDifference]
    warnings: _containers.RepeatedCompositeFieldContainer[Message]
    reasons: _containers.RepeatedCompositeFieldContainer[ReasonText]
    policy: Policy
    provenance: Provenance
    mapping: Mapping
    proposals: _containers.RepeatedCompositeFieldContainer[Proposal]
    overflow_check: bool
    compared_tensors: int
    uncompared_parameters: UncomparedParameters
    def __init__(self, step: _Optional[int] = ..., rank: _Optional[int] = ..., target: _Optional[_Union[Side, _Mapping]] = ..., golden: _Optional[_Union[Side, _Mapping]] = ..., mode: _Optional[str] = ..., micro_steps: _Optional[int] = ..., pairs: _Optional[_Union[PairCounts, _Mapping]] = ..., status: _Optional[_Union[StatusCounts, _Mapping]] = ..., causes: _Optional[_Union[CauseCounts, _Mapping]] = ..., forward: _Optional[_Union[FirstDivergence, _Mapping]] = ..., backward: _Optional[_Union[FirstDivergence, _Mapping]] = ..., parameters: _Optional[_Iterable[_Union[ParameterDifference, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., reasons: _Optional[_Iterable[_Union[ReasonText, _Mapping]]] = ..., policy: _Optional[_Union[Policy, _Mapping]] = ..., provenance: _Optional[_Union[Provenance, _Mapping]] = ..., mapping: _Optional[_Union[Mapping, _Mapping]] = ..., proposals: _Optional[_Iterable[_Union[Proposal, _Mapping]]] = ..., overflow_check: bool = ..., compared_tensors: _Optional[int] = ..., uncompared_parameters: _Optional[_Union[UncomparedParameters, _Mapping]] = ...) -> None: ...

class Side(_message.Message):
    __slots__ = ("path", "framework", "task", "level", "summary_mode", "tensor_directory", "nodes", "modules", "apis", "unmatched", "toolkit")
    PATH_FIELD_NUMBER: _ClassVar[int]
    FRAMEWORK_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_MODE_FIELD_NUMBER: _ClassVar[int]
    TENSOR_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    MODULES_FIELD_NUMBER: _ClassVar[int]
    APIS_FIELD_NUMBER: _ClassVar[int]
    UNMATCHED_FIELD_NUMBER: _ClassVar[int]
    TOOLKIT_FIELD_NUMBER: _ClassVar[int]
    path: str
    framework: str
    task: str
    level: str
    summary_mode: str
    tensor_directory: str
    nodes: int
    modules: int
    apis: int
    unmatched: int
    toolkit: str
    def __init__(self, path: _Optional[str] = ..., framework: _Optional[str] = ..., task: _Optional[str] = ..., level: _Optional[str] = ..., summary_mode: _Optional[str] = ..., tensor_directory: _Optional[str] = ..., nodes: _Optional[int] = ..., modules: _Optional[int] = ..., apis: _Optional[int] = ..., unmatched: _Optional[int] = ..., toolkit: _Optional[str] = ...) -> None: ...

class PairCounts(_message.Message):
    __slots__ = ("total", "exact", "mapping", "normalised", "fuzzy", "structural", "manual")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    MAPPING_FIELD_NUMBER: _ClassVar[int]
    NORMALISED_FIELD_NUMBER: _ClassVar[int]
    FUZZY_FIELD_NUMBER: _ClassVar[int]
    STRUCTURAL_FIELD_NUMBER: _ClassVar[int]
    MANUAL_FIELD_NUMBER: _ClassVar[int]
    total: int
    exact: int
    mapping: int
    normalised: int
    fuzzy: int
    structural: int
    manual: int
    def __init__(self, total: _Optional[int] = ..., exact: _Optional[int] = ..., mapping: _Optional[int] = ..., normalised: _Optional[int] = ..., fuzzy: _Optional[int] = ..., structural: _Optional[int] = ..., manual: _Optional[int] = ...) -> None: ...

class StatusCounts(_message.Message):
    __slots__ = ("warning", "error", "not_comparable")
    PASS_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    NOT_COMPARABLE_FIELD_NUMBER: _ClassVar[int]
    warning: int
    error: int
    not_comparable: int
    def __init__(self, warning: _Optional[int] = ..., error: _Optional[int] = ..., not_comparable: _Optional[int] = ..., **kwargs) -> None: ...

class CauseCounts(_message.Message):
    __slots__ = ("clean", "parameter", "introduced", "amplified", "inherited", "recovered")
    CLEAN_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    INTRODUCED_FIELD_NUMBER: _ClassVar[int]
    AMPLIFIED_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    clean: int
    parameter: int
    introduced: int
    amplified: int
    inherited: int
    recovered: int
    def __init__(self, clean: _Optional[int] = ..., parameter: _Optional[int] = ..., introduced: _Optional[int] = ..., amplified: _Optional[int] = ..., inherited: _Optional[int] = ..., recovered: _Optional[int] = ...) -> None: ...

class FirstDivergence(_message.Message):
    __slots__ = ("target", "golden", "kind", "error", "reason", "after", "target_node", "golden_node", "pair", "micro_step")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    TARGET_NODE_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_NODE_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    MICRO_STEP_FIELD_NUMBER: _ClassVar[int]
    target: str
    golden: _containers.RepeatedScalarFieldContainer[str]
    kind: str
    error: float
    reason: Text
    after: str
    target_node: int
    golden_node: int
    pair: int
    micro_step: int
    def __init__(self, target: _Optional[str] = ..., golden: _Optional[_Iterable[str]] = ..., kind: _Optional[str] = ..., error: _Optional[float] = ..., reason: _Optional[_Union[Text, _Mapping]] = ..., after: _Optional[str] = ..., target_node: _Optional[int] = ..., golden_node: _Optional[int] = ..., pair: _Optional[int] = ..., micro_step: _Optional[int] = ...) -> None: ...

class ParameterDifference(_message.Message):
    __slots__ = ("target", "golden", "error", "target_node", "pair", "gradient")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TARGET_NODE_FIELD_NUMBER: _ClassVar[int]
    PAIR_FIELD_NUMBER: _ClassVar[int]
    GRADIENT_FIELD_NUMBER: _ClassVar[int]
    target: str
    golden: _containers.RepeatedScalarFieldContainer[str]
    error: float
    target_node: int
    pair: int
    gradient: bool
    def __init__(self, target: _Optional[str] = ..., golden: _Optional[_Iterable[str]] = ..., error: _Optional[float] = ..., target_node: _Optional[int] = ..., pair: _Optional[int] = ..., gradient: bool = ...) -> None: ...

class UncomparedParameters(_message.Message):
    __slots__ = ("count", "target", "target_node", "reason")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TARGET_NODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    count: int
    target: str
    target_node: int
    reason: Text
    def __init__(self, count: _Optional[int] = ..., target: _Optional[str] = ..., target_node: _Optional[int] = ..., reason: _Optional[_Union[Text, _Mapping]] = ...) -> None: ...

class Text(_message.Message):
    __slots__ = ("en", "zh")
    EN_FIELD_NUMBER: _ClassVar[int]
    ZH_FIELD_NUMBER: _ClassVar[int]
    en: str
    zh: str
    def __init__(self, en: _Optional[str] = ..., zh: _Optional[str] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("text", "code", "arguments")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    text: Text
    code: str
    arguments: _containers.RepeatedCompositeFieldContainer[Argument]
    def __init__(self, text: _Optional[_Union[Text, _Mapping]] = ..., code: _Optional[str] = ..., arguments: _Optional[_Iterable[_Union[Argument, _Mapping]]] = ...) -> None: ...

class Argument(_message.Message):
    __slots__ = ("name", "text", "parts")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    text: str
    parts: _containers.RepeatedCompositeFieldContainer[Message]
    def __init__(self, name: _Optional[str] = ..., text: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[Message, _Mapping]]] = ...) -> None: ...

class ReasonText(_message.Message):
    __slots__ = ("code", "id", "text", "severity")
    CODE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    code: int
    id: str
    text: Text
    severity: str
    def __init__(self, code: _Optional[int] = ..., id: _Optional[str] = ..., text: _Optional[_Union[Text, _Mapping]] = ..., severity: _Optional[str] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ("name", "text")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    text: str
    def __init__(self, name: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Provenance(_message.Message):
    __slots__ = ("tool", "command", "created", "inputs")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    tool: str
    command: _containers.RepeatedScalarFieldContainer[str]
    created: str
    inputs: _containers.RepeatedCompositeFieldContainer[FileHash]
    def __init__(self, tool: _Optional[str] = ..., command: _Optional[_Iterable[str]] = ..., created: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[FileHash, _Mapping]]] = ...) -> None: ...

class FileHash(_message.Message):
    __slots__ = ("name", "size", "crc32")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    name: str
    size: int
    crc32: str
    def __init__(self, name: _Optional[str] = ..., size: _Optional[int] = ..., crc32: _Optional[str] = ...) -> None: ...

class Mapping(_message.Message):
    __slots__ = ("name", "text", "rules")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    name: str
    text: str
    rules: _containers.RepeatedCompositeFieldContainer[MappingRule]
    def __init__(self, name: _Optional[str] = ..., text: _Optional[str] = ..., rules: _Optional[_Iterable[_Union[MappingRule, _Mapping]]] = ...) -> None: ...

class MappingRule(_message.Message):
    __slots__ = ("scope", "source", "target", "line", "hits")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    scope: str
    source: str
    target: str
    line: int
    hits: int
    def __init__(self, scope: _Optional[str] = ..., source: _Optional[str] = ..., target: _Optional[str] = ..., line: _Optional[int] = ..., hits: _Optional[int] = ...) -> None: ...

class Proposal(_message.Message):
    __slots__ = ("target_nodes", "golden_nodes", "relation", "confidence", "evidence", "evidence_message")
    TARGET_NODES_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_NODES_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    target_nodes: _containers.RepeatedScalarFieldContainer[int]
    golden_nodes: _containers.RepeatedScalarFieldContainer[int]
    relation: Relation
    confidence: float
    evidence: str
    evidence_message: Message
    def __init__(self, target_nodes: _Optional[_Iterable[int]] = ..., golden_nodes: _Optional[_Iterable[int]] = ..., relation: _Optional[_Union[Relation, str]] = ..., confidence: _Optional[float] = ..., evidence: _Optional[str] = ..., evidence_message: _Optional[_Union[Message, _Mapping]] = ...) -> None: ...

class Strings(_message.Message):
    __slots__ = ("utf8", "end")
    UTF8_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    utf8: bytes
    end: bytes
    def __init__(self, utf8: _Optional[bytes] = ..., end: _Optional[bytes] = ...) -> None: ...

class Topology(_message.Message):
    __slots__ = ("node_count", "depth", "head", "call_delta", "tail", "kind", "direction", "micro_step", "flags", "overflow")
    NODE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    CALL_DELTA_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    MICRO_STEP_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    node_count: int
    depth: bytes
    head: bytes
    call_delta: bytes
    tail: bytes
    kind: bytes
    direction: bytes
    micro_step: bytes
    flags: bytes
    overflow: bytes
    def __init__(self, node_count: _Optional[int] = ..., depth: _Optional[bytes] = ..., head: _Optional[bytes] = ..., call_delta: _Optional[bytes] = ..., tail: _Optional[bytes] = ..., kind: _Optional[bytes] = ..., direction: _Optional[bytes] = ..., micro_step: _Optional[bytes] = ..., flags: _Optional[bytes] = ..., overflow: _Optional[bytes] = ...) -> None: ...

class NodeDtypes(_message.Message):
    __slots__ = ("dtype", "names")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    dtype: bytes
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, dtype: _Optional[bytes] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class Pairs(_message.Message):
    __slots__ = ("pair_count", "target_count", "target_delta", "golden_count", "golden_delta", "relation", "how", "confidence", "evidence", "evidence_texts", "aliases", "layouts", "evidence_messages")
    PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_DELTA_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_DELTA_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    HOW_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_TEXTS_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    LAYOUTS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    pair_count: int
    target_count: bytes
    target_delta: bytes
    golden_count: bytes
    golden_delta: bytes
    relation: bytes
    how: bytes
    confidence: bytes
    evidence: bytes
    evidence_texts: _containers.RepeatedScalarFieldContainer[str]
    aliases: _containers.RepeatedCompositeFieldContainer[Alias]
    layouts: _containers.RepeatedCompositeFieldContainer[GroupLayout]
    evidence_messages: _containers.RepeatedCompositeFieldContainer[Message]
    def __init__(self, pair_count: _Optional[int] = ..., target_count: _Optional[bytes] = ..., target_delta: _Optional[bytes] = ..., golden_count: _Optional[bytes] = ..., golden_delta: _Optional[bytes] = ..., relation: _Optional[bytes] = ..., how: _Optional[bytes] = ..., confidence: _Optional[bytes] = ..., evidence: _Optional[bytes] = ..., evidence_texts: _Optional[_Iterable[str]] = ..., aliases: _Optional[_Iterable[_Union[Alias, _Mapping]]] = ..., layouts: _Optional[_Iterable[_Union[GroupLayout, _Mapping]]] = ..., evidence_messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ...) -> None: ...

class GroupLayout(_message.Message):
    __slots__ = ("pair", "kind", "heads", "kv_heads", "shards")
    PAIR_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HEADS_FIELD_NUMBER: _ClassVar[int]
    KV_HEADS_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    pair: int
    kind: str
    heads: int
    kv_heads: int
    shards: int
    def __init__(self, pair: _Optional[int] = ..., kind: _Optional[str] = ..., heads: _Optional[int] = ..., kv_heads: _Optional[int] = ..., shards: _Optional[int] = ...) -> None: ...

class Alias(_message.Message):
    __slots__ = ("golden_class", "target", "golden")
    GOLDEN_CLASS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_FIELD_NUMBER: _ClassVar[int]
    golden_class: str
    target: str
    golden: str
    def __init__(self, golden_class: _Optional[str] = ..., target: _Optional[str] = ..., golden: _Optional[str] = ...) -> None: ...

class Verdicts(_message.Message):
    __slots__ = ("pair_count", "status", "cause", "error", "input_error", "parameter_error", "reasons")
    PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    INPUT_ERROR_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_ERROR_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    pair_count: int
    status: bytes
    cause: bytes
    error: bytes
    input_error: bytes
    parameter_error: bytes
    reasons: bytes
    def __init__(self, pair_count: _Optional[int] = ..., status: _Optional[bytes] = ..., cause: _Optional[bytes] = ..., error: _Optional[bytes] = ..., input_error: _Optional[bytes] = ..., parameter_error: _Optional[bytes] = ..., reasons: _Optional[bytes] = ...) -> None: ...

class PairErrors(_message.Message):
    __slots__ = ("pair_count", "max", "min", "mean", "norm")
    PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    NORM_FIELD_NUMBER: _ClassVar[int]
    pair_count: int
    max: bytes
    min: bytes
    mean: bytes
    norm: bytes
    def __init__(self, pair_count: _Optional[int] = ..., max: _Optional[bytes] = ..., min: _Optional[bytes] = ..., mean: _Optional[bytes] = ..., norm: _Optional[bytes] = ...) -> None: ...

class TensorBlock(_message.Message):
    __slots__ = ("first_node", "node_count", "row_count", "row_end", "stack", "role", "kind", "name", "type", "dtype", "shape", "requires_grad", "present", "statistics", "statistics_width", "value", "checksum", "data_name", "strings", "exact")
    FIRST_NODE_FIELD_NUMBER: _ClassVar[int]
    NODE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROW_END_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_GRAD_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_WIDTH_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    DATA_NAME_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    first_node: int
    node_count: int
    row_count: int
    row_end: bytes
    stack: bytes
    role: bytes
    kind: bytes
    name: bytes
    type: bytes
    dtype: bytes
    shape: bytes
    requires_grad: bytes
    present: bytes
    statistics: bytes
    statistics_width: int
    value: bytes
    checksum: bytes
    data_name: bytes
    strings: _containers.RepeatedScalarFieldContainer[str]
    exact: _containers.RepeatedCompositeFieldContainer[ExactStatistics]
    def __init__(self, first_node: _Optional[int] = ..., node_count: _Optional[int] = ..., row_count: _Optional[int] = ..., row_end: _Optional[bytes] = ..., stack: _Optional[bytes] = ..., role: _Optional[bytes] = ..., kind: _Optional[bytes] = ..., name: _Optional[bytes] = ..., type: _Optional[bytes] = ..., dtype: _Optional[bytes] = ..., shape: _Optional[bytes] = ..., requires_grad: _Optional[bytes] = ..., present: _Optional[bytes] = ..., statistics: _Optional[bytes] = ..., statistics_width: _Optional[int] = ..., value: _Optional[bytes] = ..., checksum: _Optional[bytes] = ..., data_name: _Optional[bytes] = ..., strings: _Optional[_Iterable[str]] = ..., exact: _Optional[_Iterable[_Union[ExactStatistics, _Mapping]]] = ...) -> None: ...

class ExactStatistics(_message.Message):
    __slots__ = ("row", "max", "min", "mean", "norm")
    ROW_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    NORM_FIELD_NUMBER: _ClassVar[int]
    row: int
    max: str
    min: str
    mean: str
    norm: str
    def __init__(self, row: _Optional[int] = ..., max: _Optional[str] = ..., min: _Optional[str] = ..., mean: _Optional[str] = ..., norm: _Optional[str] = ...) -> None: ...

class Stacks(_message.Message):
    __slots__ = ("stacks", "lines")
    STACKS_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    stacks: _containers.RepeatedCompositeFieldContainer[Stack]
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, stacks: _Optional[_Iterable[_Union[Stack, _Mapping]]] = ..., lines: _Optional[_Iterable[str]] = ...) -> None: ...

class Stack(_message.Message):
    __slots__ = ("lines",)
    LINES_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, lines: _Optional[_Iterable[int]] = ...) -> None: ...

class ComparisonBlock(_message.Message):
    __slots__ = ("first_pair", "pair_count", "row_count", "row_end", "target_node", "target_leaf", "golden_node", "golden_leaf", "status", "reasons", "error", "statistic", "tolerance", "compositions", "notes", "metric_names", "metrics", "layout", "layout_names", "ambiguous", "unavailable")
    FIRST_PAIR_FIELD_NUMBER: _ClassVar[int]
    PAIR_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROW_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_NODE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LEAF_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_NODE_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_LEAF_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    STATISTIC_FIELD_NUMBER: _ClassVar[int]
    TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    COMPOSITIONS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    METRIC_NAMES_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_NAMES_FIELD_NUMBER: _ClassVar[int]
    AMBIGUOUS_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    first_pair: int
    pair_count: int
    row_count: int
    row_end: bytes
    target_node: bytes
    target_leaf: bytes
    golden_node: bytes
    golden_leaf: bytes
    status: bytes
    reasons: bytes
    error: bytes
    statistic: bytes
    tolerance: bytes
    compositions: _containers.RepeatedCompositeFieldContainer[Composition]
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    metric_names: _containers.RepeatedScalarFieldContainer[str]
    metrics: bytes
    layout: bytes
    layout_names: _containers.RepeatedScalarFieldContainer[str]
    ambiguous: bytes
    unavailable: _containers.RepeatedCompositeFieldContainer[Unavailable]
    def __init__(self, first_pair: _Optional[int] = ..., pair_count: _Optional[int] = ..., row_count: _Optional[int] = ..., row_end: _Optional[bytes] = ..., target_node: _Optional[bytes] = ..., target_leaf: _Optional[bytes] = ..., golden_node: _Optional[bytes] = ..., golden_leaf: _Optional[bytes] = ..., status: _Optional[bytes] = ..., reasons: _Optional[bytes] = ..., error: _Optional[bytes] = ..., statistic: _Optional[bytes] = ..., tolerance: _Optional[bytes] = ..., compositions: _Optional[_Iterable[_Union[Composition, _Mapping]]] = ..., notes: _Optional[_Iterable[_Union[Note, _Mapping]]] = ..., metric_names: _Optional[_Iterable[str]] = ..., metrics: _Optional[bytes] = ..., layout: _Optional[bytes] = ..., layout_names: _Optional[_Iterable[str]] = ..., ambiguous: _Optional[bytes] = ..., unavailable: _Optional[_Iterable[_Union[Unavailable, _Mapping]]] = ...) -> None: ...

class Composition(_message.Message):
    __slots__ = ("row", "golden", "node", "leaf", "max", "min", "mean", "norm", "present", "shape", "dtype", "relation")
    ROW_FIELD_NUMBER: _ClassVar[int]
    GOLDEN_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    NORM_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    row: int
    golden: bool
    node: _containers.RepeatedScalarFieldContainer[int]
    leaf: _containers.RepeatedScalarFieldContainer[int]
    max: float
    min: float
    mean: float
    norm: float
    present: int
    shape: str
    dtype: str
    relation: str
    def __init__(self, row: _Optional[int] = ..., golden: bool = ..., node: _Optional[_Iterable[int]] = ..., leaf: _Optional[_Iterable[int]] = ..., max: _Optional[float] = ..., min: _Optional[float] = ..., mean: _Optional[float] = ..., norm: _Optional[float] = ..., present: _Optional[int] = ..., shape: _Optional[str] = ..., dtype: _Optional[str] = ..., relation: _Optional[str] = ...) -> None: ...

class Unavailable(_message.Message):
    __slots__ = ("row", "why")
    ROW_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    row: int
    why: Text
    def __init__(self, row: _Optional[int] = ..., why: _Optional[_Union[Text, _Mapping]] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ("row", "code", "arguments")
    class ArgumentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ROW_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    row: int
    code: int
    arguments: _containers.ScalarMap[str, str]
    def __init__(self, row: _Optional[int] = ..., code: _Optional[int] = ..., arguments: _Optional[_Mapping[str, str]] = ...) -> None: ...
