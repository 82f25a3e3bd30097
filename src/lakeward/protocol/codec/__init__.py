"""Any declared message to bytes and back.

    declare   f(number, …), i32, i64, payload: how messages are declared
    shapes    what a class declares, read once
    wire      varints and tags: the primitives
    decoding  decode, decode_in_steps: one function per class, compiled from source
    encoding  encode, encode_parts: likewise

Payload fields come out as views into the frame and go in as parts of a gather list, so that a megabyte of records
costs the same as a byte.
"""

from lakeward.protocol.codec.decoding import decode, decode_in_steps
from lakeward.protocol.codec.encoding import Parts, encode, encode_parts

__all__ = ["Parts", "decode", "decode_in_steps", "encode", "encode_parts"]
