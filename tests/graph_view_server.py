"""graph-view serve in a thread of the test, on a free loopback port."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from tb_graph_ascend.serve import make_graph_server


@contextlib.contextmanager
def serving(logs: str, allow_writing: bool = False) -> Iterator[str]:
    """Serves the log directory `logs`; yields the address ("http://127.0.0.1:1234") and stops afterwards."""
    server = make_graph_server(logs, allow_writing=allow_writing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
