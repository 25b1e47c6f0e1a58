"""Messages on the wire: the English text, and code and arguments for other languages."""

from __future__ import annotations

from converter.graphfile import graph_pb2
from converter.graphfile.columns import clean
from converter.messages import Argument, Message


def encode_message(text: str, with_text: bool = True) -> graph_pb2.Message:
    """A text with its code and arguments, if it has any."""
    encoded = graph_pb2.Message(text=graph_pb2.Text(en=clean(text)) if with_text else None)
    if isinstance(text, Message):
        encoded.code = text.code
        for name, value in text.arguments.items():
            if isinstance(value, Message):
                encoded.arguments.add(name=name, parts=[encode_message(value)])
            elif isinstance(value, str):
                encoded.arguments.add(name=name, text=clean(value))
            else:
                encoded.arguments.add(name=name, parts=[encode_message(part) for part in value])
    return encoded


def decode_message(encoded: graph_pb2.Message, text: str = "") -> str:
    """What was encoded; a plain text where the file holds no code. `text`: the English text, where it is kept elsewhere."""
    text = text or encoded.text.en
    if not encoded.code:
        return text
    return Message(text, encoded.code, {argument.name: _value(argument) for argument in encoded.arguments})


def _value(argument: graph_pb2.Argument) -> Argument:
    parts = tuple(decode_message(part) for part in argument.parts)
    return parts[0] if len(parts) == 1 else parts or argument.text
