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
    """A tensor or scalar of a plain statistics dump; one without any field is the empty object that stands for something the
    collector cannot describe."""

    type: Union[str, UnsetType] = UNSET
    dtype: _Text = UNSET
    shape: Union[tuple[_Size, ...], UnsetType, None] = UNSET
    Max: _Number = UNSET
    Min: _Number = UNSET
    Mean: _Number = UNSET
    Norm: _Number = UNSET
    requires_grad: Union[bool, UnsetType, None] = UNSET
    value: Any = UNSET


class WideLeaf(Leaf, gc=False, forbid_unknown_fields=True):
    """The same with the fields that checksums, tensor files and process groups add."""

    md5: _Text = UNSET
    data_name: _Text = UNSET
    group_ranks: Any = UNSET
    group_id: Any = UNSET
    format: Any = UNSET


# An entry is a call, {"input_args": [...], "input_kwargs": {...}, ...}, or parameter gradients, {"weight": [leaf]}. Each has groups,
# which are lists or objects of items, which are leaves or lists of leaves.
_Item = Union[Leaf, None, list[Optional[Leaf]]]
_WideItem = Union[WideLeaf, None, list[Optional[WideLeaf]]]
_Entry = dict[str, Union[list[_Item], dict[str, _Item], None]]
_WideEntry = dict[str, Union[list[_WideItem], dict[str, _WideItem], None]]

decode_entries = msgspec.json.Decoder(dict[str, _Entry]).decode
decode_wide_entries = msgspec.json.Decoder(dict[str, _WideEntry]).decode
decode_wide_entry = msgspec.json.Decoder(_WideEntry).decode
split_entries = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode
