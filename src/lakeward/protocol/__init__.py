"""The wire, without sockets.

    frames     length-prefixed frames: FrameReader, request and response headers
    wire       varints and tags: the primitives
    declare    f(number, …), i32, i64, payload: how messages are declared
    codec      encode / decode any declared message; payloads are never copied
               (shapes: what a class declares; decoding, encoding: the functions made from it)
    messages/  frozen dataclasses, one file per family
    api        one row per API: key, versions, request, response

Bytes in, values out, and back. Nothing here knows sockets, files or clocks.
"""
