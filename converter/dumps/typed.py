"""The shapes that nearly all entries of dump.json have, as types that msgspec decodes straight into.

What does not fit (nested containers, fields of other collectors) raises `msgspec.ValidationError`, and the entry goes the general
way (leaf.py). Nothing may fit here and mean something else there.
"""

from __future__ import annotations

from typing import Annotated, Any, Optional, Union

import msgspec
from msgspec import UNSET, UnsetType

_Size = Annotated[int, msgspec.Meta(gt=-2 ** 63, lt=2 ** 63 - 1)]
_Number = Union[float, int, bool, str, UnsetType, None]
_Text = Union[str, UnsetType, None]


class Leaf(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A leaf; one without any field is the empty object that stands for something the collector cannot describe."""

    type: Union[str, UnsetType] = UNSET
    dtype: _Text = UNSET
    shape: Union[tuple[_Size, ...], UnsetType, None] = UNSET
    Max: _Number = UNSET
    Min: _Number = UNSET
    Mean: _Number = UNSET
    Norm: _Number = UNSET
    requires_grad: Union[bool, UnsetType, None] = UNSET
    md5: _Text = UNSET
    data_name: _Text = UNSET
    value: Any = UNSET
    group_ranks: Any = UNSET
    group_id: Any = UNSET
    format: Any = UNSET


Item = Union[Leaf, None, list[Optional[Leaf]]]
Group = Union[list[Item], dict[str, Item], None]
Entry = dict[str, Group]  # a call: {"input_args": [...], "input_kwargs": {...}, ...}; parameter gradients: {"weight": [leaf]}

decode_entries = msgspec.json.Decoder(dict[str, Entry]).decode
decode_entry = msgspec.json.Decoder(Entry).decode
split_entries = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode
