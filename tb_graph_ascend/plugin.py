"""The entry point that TensorBoard loads: a table of routes and nothing else. Everything heavier is imported when asked for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

from tb_graph_ascend.metadata import PLUGIN_NAME, TAB_NAME

if TYPE_CHECKING:
    from tb_graph_ascend.run_finder import RunFinder


ALLOW_WRITING = "tb_graph_ascend_allow_writing"
NO_DUMPS = "tb_graph_ascend_no_dumps"


class GraphLoader(base_plugin.TBLoader):  # type: ignore[misc]  # tensorboard has no types
    """Adds the plugin's flags to the command line of tensorboard."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("tb_graph_ascend")
        group.add_argument(f"--{ALLOW_WRITING}", action="store_true",
                           help="Let the graph plugin's page convert dumps that lie below the log directory. Results are written there.")
        group.add_argument(f"--{NO_DUMPS}", action="store_true",
                           help="Do not let the graph plugin read tensor files of dumps, for its maps of differences.")

    def load(self, context: base_plugin.TBContext) -> GraphPlugin:
        return GraphPlugin(context)


class GraphPlugin(base_plugin.TBPlugin):  # type: ignore[misc]  # tensorboard has no types
    """Serves the graph files below the log directory. See docs/http_api.md for the routes."""

    plugin_name = PLUGIN_NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        """Keeps what the context says; looks at nothing yet. Any field of the context may be None."""
        self._logdir: str = context.logdir or ""
        self._logdir_spec: str = getattr(context.flags, "logdir_spec", None) or ""
        self._host: str = getattr(context.flags, "host", None) or ""
        self._allow_writing = bool(getattr(context.flags, ALLOW_WRITING, False))
        self._read_dumps = not getattr(context.flags, NO_DUMPS, False)
        self._finder: RunFinder | None = None

    def get_plugin_apps(self) -> dict[str, Any]:
        from tb_graph_ascend.routes import routes

        return routes(self._runs(), host="tensorboard", served_as=[self._host], allow_writing=self._allow_writing,
                      read_dumps=self._read_dumps)

    def is_active(self) -> bool:
        """Answers from what the background walk has found so far; TensorBoard calls this on every page load."""
        return self._runs().is_active()

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=TAB_NAME)

    def _runs(self) -> RunFinder:
        if self._finder is None:
            from tb_graph_ascend.log_roots import log_roots
            from tb_graph_ascend.run_finder import RunFinder

            self._finder = RunFinder(log_roots(self._logdir, self._logdir_spec))
        return self._finder
