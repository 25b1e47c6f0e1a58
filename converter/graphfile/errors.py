"""What can be wrong with a graph file, told in both languages of the viewer."""

from __future__ import annotations

import errno

from converter.errors import UserError

SYSTEM_ERRORS = {
    errno.ENOENT: "文件不存在",
    errno.EISDIR: "这是目录",
    errno.ENOTDIR: "路径中有一部分不是目录",
    errno.EACCES: "权限不足",
    errno.EPERM: "不允许该操作",
    errno.EROFS: "文件系统只读",
    errno.ENOSPC: "磁盘空间不足",
    errno.EDQUOT: "超出磁盘配额",
    errno.EFBIG: "文件过大",
    errno.EIO: "输入/输出错误",
    errno.ESTALE: "网络文件系统上的文件已失效",
    errno.ENAMETOOLONG: "文件名过长",
}


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


def unreadable(name: str, why: str, why_zh: str = "") -> GraphFileError:
    return GraphFileError("unreadable", f"{name} cannot be read: {why}.", f"无法读取 {name}：{why_zh or why}。")


def system_error(problem: OSError) -> tuple[str, str]:
    """(what the system says, the same in Chinese for what happens to files)"""
    said = problem.strerror or str(problem)
    return said, SYSTEM_ERRORS.get(problem.errno or 0, said)
