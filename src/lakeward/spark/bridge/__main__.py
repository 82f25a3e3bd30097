"""`python -m lakeward.spark.bridge <socket>`: serves the calls of one JVM, one after the other, until it hangs up."""

from __future__ import annotations

import json
import signal
import socket
import sys
import traceback

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.process.child import end_with
from lakeward.spark.bridge.calls import function_of
from lakeward.spark.socket.call import Call
from lakeward.spark.socket.frames import BYTES, ERROR, JSON, Closed, Frames


def serve(connection: socket.socket) -> None:
    """Answer calls until the other side closes."""
    frames = Frames(connection)
    try:
        while True:
            kind, payload = frames.receive()
            if kind == JSON:  # anything else belongs to a call that has failed or was cancelled
                _answer(frames, json.loads(payload.to_pybytes()))
    except Closed:
        return


def _answer(frames: Frames, asked: dict[str, object]) -> None:
    try:
        call = Call.of(asked, frames)
        answer = function_of(call.name)(call)
    except LakewardError as wrong:
        frames.send_json(ERROR, {"code": wrong.code.name, "message": _sentence(str(wrong))})
    except OSError as wrong:
        frames.send_json(ERROR, {"code": ErrorCode.NETWORK.name, "message": _sentence(str(wrong))})
    except Closed:
        raise
    except Exception as wrong:  # noqa: BLE001 - a mistake of ours: the trace goes to the log, the answer must come
        traceback.print_exc()
        frames.send_json(ERROR, {"code": "UNEXPECTED", "message": f"{type(wrong).__name__}: {wrong}"})
    else:
        if isinstance(answer, bytes):
            frames.send(BYTES, answer)
        else:
            frames.send_json(JSON, answer)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def main() -> None:
    """Connect to the JVM that has started this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which hangs up when it ends
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(sys.argv[1])
        end_with(connection)  # in the middle of a call too, which may last
        serve(connection)


if __name__ == "__main__":
    main()
