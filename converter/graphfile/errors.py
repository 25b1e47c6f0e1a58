"""What can be wrong with a graph file, told in both languages of the viewer."""

from __future__ import annotations

from converter.errors import UserError


class GraphFileError(UserError):
    """A graph file, or a section of it, that cannot be read.

    `code` is for programs: not_a_graph_file | truncated | damaged | newer_version | no_such_section | unreadable.
    """

    def __init__(self, code: str, en: str, zh: str) -> None:
        super().__init__(en)
        self.code = code
        self.en = en
        self.zh = zh


def not_a_graph_file(name: str) -> GraphFileError:
    return GraphFileError("not_a_graph_file", f"{name} is not a graph file of graph-convert.", f"{name} 不是 graph-convert 生成的图文件。")


def truncated(name: str, size: int, needed: int) -> GraphFileError:
    return GraphFileError(
        "truncated",
        f"{name} is cut off: it has {size} bytes of at least {needed}. Copy it again or convert again.",
        f"{name} 不完整：仅有 {size} 字节，至少应有 {needed} 字节。请重新复制或重新转换。",
    )


def damaged(name: str, what: str, what_zh: str) -> GraphFileError:
    return GraphFileError(
        "damaged",
        f"{name} is damaged: {what}. Copy it again or convert again.",
        f"{name} 已损坏：{what_zh}。请重新复制或重新转换。",
    )


def newer_version(name: str, major: int, known: int, tool: str) -> GraphFileError:
    return GraphFileError(
        "newer_version",
        f"{name} has graph file version {major}, written by {tool}; this program reads up to version {known}. Update tb_graph_ascend.",
        f"{name} 的图文件版本为 {major}（由 {tool} 写入），当前程序最高支持版本 {known}。请升级 tb_graph_ascend。",
    )


def no_such_section(name: str, section: str) -> GraphFileError:
    return GraphFileError("no_such_section", f"{name} has no section \"{section}\".", f"{name} 中没有名为 \"{section}\" 的分区。")


def unreadable(name: str, why: str) -> GraphFileError:
    return GraphFileError("unreadable", f"{name} cannot be read: {why}.", f"无法读取 {name}：{why}。")
