"""What the converter says to a person: an English sentence that knows its code and arguments, so that the viewer can say it otherwise.

A message is a text. Whatever prints, joins or compares texts takes it as it is; whoever translates looks at `code` and `arguments`
(static/src/i18n/messages/ has the Chinese sentences). The English template stands where the message is made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Union

Argument = Union[str, "tuple[str, ...]"]  # a text (a Message among them), or several of them

_PLACE = re.compile(r"\{(\w+)\}")


class Message(str):
    """An English sentence with the code and the arguments that it was made of."""

    code: str
    arguments: dict[str, Argument]

    def __new__(cls, text: str, code: str, arguments: dict[str, Argument]) -> Message:
        made = super().__new__(cls, text)
        made.code, made.arguments = code, arguments
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # messages travel between processes
        return Message, (str.__str__(self), self.code, self.arguments)


def message(code: str, template: str, /, **arguments: object) -> str:
    """A Message, made of a template in which `{name}` stands for the argument of that name.

    Args:
        code: names the sentence in every language; never reused for another one.
        arguments: messages, texts, numbers, or tuples of them, which are joined with commas.
    """
    kept = {name: _argument(value) for name, value in arguments.items()}
    english = {name: value if isinstance(value, str) else ", ".join(value) for name, value in kept.items()}
    return Message(_PLACE.sub(lambda found: english.get(found[1], found[0]), template), code, kept)


TARGET, GOLDEN = message("side.target", "target"), message("side.golden", "golden")


def joined(texts: Sequence[str]) -> str:
    """Several messages as one, with semicolons."""
    if len(texts) == 1:
        return texts[0]
    return Message("; ".join(texts), "joined", {"parts": tuple(texts)}) if texts else ""


def with_replaced(text: str, old: str, new: str) -> str:
    """The text, and all that it was made of, with `old` replaced by `new`."""
    if not isinstance(text, Message):
        return text.replace(old, new)
    arguments = {
        name: with_replaced(value, old, new) if isinstance(value, str) else tuple(with_replaced(part, old, new) for part in value)
        for name, value in text.arguments.items()
    }
    return Message(str.__str__(text).replace(old, new), text.code, arguments)


def as_json(text: str) -> Any:
    """A text as it is; a message as {"code", "text", "arguments"}, for the viewer."""
    if not isinstance(text, Message):
        return text
    arguments = {
        name: as_json(value) if isinstance(value, str) else [as_json(part) for part in value] for name, value in text.arguments.items()
    }
    return {"code": text.code, "text": str.__str__(text), "arguments": arguments}


def of_json(said: Any) -> str:
    """What `as_json` was given."""
    if isinstance(said, str):
        return said
    given = said["arguments"].items()
    arguments = {name: tuple(map(of_json, value)) if isinstance(value, list) else of_json(value) for name, value in given}
    return Message(said["text"], said["code"], arguments)


def _argument(value: object) -> Argument:
    if isinstance(value, (tuple, list)):
        return tuple(part if isinstance(part, str) else str(part) for part in value)
    return value if isinstance(value, str) else str(value)
