"""The wire, without sockets.

    api           one row per API: key, versions, request, response
    acl_forms     grants and filters of grants ↔ their messages
    frame_reader  FrameReader: whole frames out of a byte stream, within limits
    frames        length-prefixed frames: headers of requests and responses
    messages/     frozen dataclasses, one file per family
    codec/        any declared message to bytes and back; payloads are never copied

Bytes in, values out, and back. Nothing here knows sockets, files or clocks. Each row imports only those below it.
"""
