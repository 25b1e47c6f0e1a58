"""Names that the plugin, the writer of log directories and the front end share."""

from __future__ import annotations

PLUGIN_NAME = "tb_graph_ascend"  # not "graph_ascend": msprobe registers that, and two plugins of one name stop TensorBoard
TAB_NAME = "Graph Ascend"

GRAPH_SUFFIX = ".pb"

# Sequences of bytes are sent under this type: protobuf has no registered one, and a type that proxies do not
# take for text keeps them from re-encoding it.
PROTOBUF_TYPE = "application/x-protobuf"
