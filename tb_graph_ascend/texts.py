"""Sentences that the server says to a person, in both languages of the viewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from converter.errors import UserError
from converter.graphfile.errors import GraphFileError
from converter.messages import as_json, message


@dataclass(frozen=True)
class Problem:
    """What is wrong and what to do, with a code for programs.

    What the converter said has no Chinese here: `said` is its Message, and the viewer has the sentence (converter/messages.py).
    """

    code: str
    en: str
    zh: str
    said: str = ""

    def as_json(self) -> dict[str, Any]:
        texts = {"code": self.code, "en": self.en, "zh": self.zh}
        return {**texts, "said": as_json(self.said)} if self.said else texts


def of_error(error: UserError, code: str = "unreadable") -> Problem:
    """What the converter could not do; `code` for an error that has none."""
    if isinstance(error, GraphFileError):
        return Problem(error.code, error.en, error.zh)
    return Problem(code, str(error), str(error), error.told)


def broken_manifest(why: str) -> Problem:
    said = message("manifest.broken", "The run's manifest.json cannot be used: {why}. The graph files found beside it are listed.", why=why)
    return Problem("manifest", said, said, said)


def unreachable(root: str, why: str, why_zh: str = "") -> Problem:
    return Problem("log_directory", f"The log directory {root} cannot be read: {why}", f"无法读取日志目录 {root}：{why_zh or why}")


def no_log_directory(root: str) -> Problem:
    return Problem("no_log_directory",
                   f"The log directory {root} does not exist. Correct the path, or write to it: graph-convert … -o {root}",
                   f"日志目录 {root} 不存在。请更正路径，或向其写入结果：graph-convert … -o {root}")


def log_directory_is_file(root: str) -> Problem:
    return Problem("log_directory_is_file",
                   f"{root} is a file, not a log directory. Name the directory that graph-convert wrote to with -o.",
                   f"{root} 是文件，不是日志目录。请指定 graph-convert 以 -o 写入的目录。")


def bad_parameter(name: str, why_en: str, why_zh: str) -> Problem:
    return Problem("bad_request", f"Parameter \"{name}\" {why_en}.", f"参数 \"{name}\" {why_zh}。")


def no_such_run(run: str) -> Problem:
    return Problem("no_such_run", f"There is no run \"{run}\" below the log directory. It may have been moved or deleted; reload the list.",
                   f"日志目录下没有名为 \"{run}\" 的运行，可能已被移动或删除，请刷新列表。")


def no_such_graph(run: str, step: int, rank: int) -> Problem:
    return Problem("no_such_graph",
                   f"Run \"{run}\" has no graph of step {step}, rank {rank}.",
                   f"运行 \"{run}\" 中没有 step {step}、rank {rank} 的图。")


def gone(run: str) -> Problem:
    return Problem("gone",
                   f"Run \"{run}\" is not there any more: it was deleted, moved or renamed. Reload the list of runs; "
                   "what was matched or marked here can be downloaded as a file.",
                   f"运行 \"{run}\" 已不存在：可能已被删除、移动或重命名。请刷新列表；在此处所做的匹配与标记可下载为文件。")


def changed(file: str) -> Problem:
    return Problem("changed",
                   f"{file} was written anew since the page was opened. Reload the graph.",
                   f"{file} 在页面打开后已被重新写入，请重新加载该图。")


def method(allowed: str) -> Problem:
    return Problem("method", f"This address takes {allowed} only.", f"该地址仅接受 {allowed} 请求。")


NOT_FOUND = Problem("not_found", "There is nothing at this address.", "该地址不存在。")
FOREIGN_PAGE = Problem(
    "foreign_page", "Refused: the request comes from a page of another site.", "已拒绝：该请求来自其他站点的页面。"
)
NOT_JSON = Problem("not_json", "Refused: the request must be JSON (Content-Type: application/json).",
                   "已拒绝：请求必须为 JSON（Content-Type: application/json）。")


def foreign_host(host: str, variable: str) -> Problem:
    return Problem(
        "foreign_host",
        f"Refused: this server does not know itself as \"{host}\". "
        f"If it is reached through a proxy of that name, start it with {variable}={host}.",
        f"已拒绝：服务器不以 \"{host}\" 为名。如通过该名称的代理访问，请以 {variable}={host} 启动。",
    )

INTERNAL = Problem("internal", "The server failed on this request; its log says why.", "服务器处理该请求时出错，详见服务器日志。")
READ_ONLY = Problem("read_only",
                    "The directory of this graph cannot be written. Save the matches as a file and give it to graph-convert --matches.",
                    "该图所在目录不可写。请将匹配结果另存为文件，并通过 graph-convert 的 --matches 使用。")
MATCHES_CHANGED = Problem("matches_changed",
                          "Somebody else has changed the matches since this page read them. Look at theirs, then save again.",
                          "其他人已修改匹配文件。请查看其内容后再次保存。")


def cannot_write(why: str, why_zh: str, for_good: bool) -> Problem:
    """`for_good`: nobody may write there. A full disk or a broken connection to one is tried again."""
    return Problem("read_only" if for_good else "cannot_write",
                   f"The matches could not be written: {why}.", f"无法写入匹配文件：{why_zh}。")

TOO_LARGE = Problem("too_large", "Refused: the request is larger than 16 MiB.", "已拒绝：请求超过 16 MiB。")
BUSY = Problem("busy", "The server is matching other graphs at the moment. Try again in a minute.", "服务器正在匹配其他图，请稍后重试。")

NOT_ALLOWED = Problem("not_allowed", "Converting in the browser is off. Start TensorBoard with --tb_graph_ascend_allow_writing.",
                      "浏览器内转换未开启。请以 --tb_graph_ascend_allow_writing 启动 TensorBoard。")
CONVERTING = Problem("converting", "Another conversion is running. Wait for it, or cancel it.", "另一个转换正在进行，请等待或取消。")
NO_SUCH_DUMP = Problem("no_such_dump", "There is no such dump directory below the log directory.", "日志目录下没有该 dump 目录。")
NO_SUCH_CONVERSION = Problem("no_such_conversion", "This server knows no such conversion; it may have been restarted.",
                             "服务器中没有该转换，可能已重启。")


def too_slow(seconds: float) -> Problem:
    return Problem("too_slow",
                   f"Matching again took longer than {seconds:.0f} seconds and was stopped. Use graph-convert for graphs of this size.",
                   f"重新匹配超过 {seconds:.0f} 秒，已停止。此规模的图请使用 graph-convert。")


NO_DUMPS = Problem("dumps_off", "This server was started so that it does not read dumps.", "该服务器启动时已设置为不读取 dump。")
HEATMAP_BUSY = Problem("busy", "The server is reading other tensors at the moment. Try again in a few seconds.",
                       "服务器正在读取其他张量，请稍后重试。")


def heatmap_too_slow(seconds: float) -> Problem:
    return Problem("too_slow", f"Reading the tensors took longer than {seconds:.0f} seconds and was stopped.",
                   f"读取张量超过 {seconds:.0f} 秒，已停止。")
