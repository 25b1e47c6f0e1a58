"""graph-view: looks at graph files without TensorBoard. Arguments in, exit code out; nothing else."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from converter.errors import UserError
from converter.version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    """0 done; 1 doctor found something wrong; 2 bad input or usage."""
    options = _parser().parse_args(arguments)
    try:
        code = int(options.command(options))
        sys.stdout.flush()
        return code
    except UserError as problem:
        print(f"graph-view: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head`: whoever closed standard output does not want to know
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain about it once more at its end
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graph-view", description="Look at the graph files that graph-convert wrote.")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="show a log directory in the browser, without TensorBoard")
    serve.add_argument("directory", help="what graph-convert wrote to with -o, or an address such as s3://bucket/logs")
    serve.add_argument("--port", type=int, default=6007, help="0 takes a free one (default: %(default)s)")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine only)")
    serve.add_argument("--allow-writing", action="store_true", help="let the page convert dumps that lie below the directory")
    serve.add_argument("--no-dumps", action="store_true", help="never read tensor files of dumps (for maps of differences)")
    serve.set_defaults(command=_serve)

    doctor = commands.add_parser("doctor", help="say which TensorBoard, plugins and graph files are found, and what is wrong with them")
    doctor.add_argument("directory", nargs="?", help="log directory to look into")
    doctor.set_defaults(command=_doctor)

    export = commands.add_parser("export", help="write one HTML file that shows a run without any server")
    export.add_argument("run", help="directory of a run (compare_…, build_…), or one graph file")
    export.add_argument("-o", "--output", required=True, metavar="PAGE.html", help="HTML file to write")
    export.add_argument("--step", type=int, help="only this step")
    export.add_argument("--rank", type=int, help="only this rank")
    export.set_defaults(command=_export)
    return parser


def _serve(options: argparse.Namespace) -> int:
    from tb_graph_ascend.serve import make_graph_server

    server = make_graph_server(options.directory, options.host, options.port, options.allow_writing, not options.no_dumps)
    print(f"graph-view: http://{options.host}:{server.port}/  (Ctrl+C ends it)", flush=True)
    try:
        server.serve_forever()
    finally:
        server.server_close()
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from tb_graph_ascend.doctor import examine

    return examine(options.directory)


def _export(options: argparse.Namespace) -> int:
    from tb_graph_ascend.export_page import export_page

    size = export_page(options.run, options.output, options.step, options.rank)
    print(f"graph-view: wrote {options.output} ({size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
