"""In Chinese nothing is left in English: what the converter says of pairs, mappings and dumps, what the server refuses, and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from comparisons import convert
from panel_steps import DATA
from playwright.sync_api import Page, expect
from tensorboard_process import running_tensorboard
from viewer import Viewer, forget_refusals, in_tensorboard, run_named

ENGLISH = re.compile(r"\b[a-z]{2,}(?:[ ,;:]+[a-z]{2,}){2,}\b")  # three words one behind the other
PANELS = ("搜索", "手动匹配", "层映射", "预期与忽略", "分享")
SHOWN = """[document.body.innerText, ...[...document.querySelectorAll('[title],[aria-label]')]
    .flatMap(e => [e.title, e.getAttribute('aria-label') ?? ''])].join('\\n')"""
UNUSED = """\
wrappers: ignore
TopLayer:
  decoder.layers: model.layers
TransformerLayer:
  self_attention.linear_qkv: [self_attn.q_prj, self_attn.k_proj, self_attn.v_proj]
  mlpp: mlp
NoSuchClass:
  a: b
"""


@pytest.fixture(scope="module")
def mapped_logs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """"mapped": a mapping with rules that hit nothing; "levels": two dumps that were taken at different levels."""
    folder = tmp_path_factory.mktemp("chinese")
    sets = f"{DATA}/megatron_vs_hf"
    mapping = folder / "unused.yaml"
    mapping.write_text(UNUSED.replace("NoSuchClass:\n  a: b\n", "  input_layernorm: input_layernorm\n"), encoding="utf-8")
    convert(str(folder / "logs" / "mapped"), "-tp", f"{sets}/megatron_bug_qkv_bias", "-gp", f"{sets}/hf", "-lm", str(mapping))
    convert(str(folder / "logs" / "md5"), "-tp", f"{DATA}/qwen2_24l_L0_md5/target", "-gp", f"{DATA}/qwen2_24l_mix_stat/golden")
    return str(folder / "logs")


@pytest.fixture(scope="module")
def mapped_tensorboard(bundle: str, mapped_logs: str) -> Iterator[str]:
    with running_tensorboard("--logdir", mapped_logs) as address:
        yield address


def in_chinese(page: Page, address: str, run: str) -> Viewer:
    page.add_init_script("localStorage.setItem('tb_graph_ascend.locale', 'zh')")
    return in_tensorboard(page, address, run=run).opened()


def english_lines(viewer: Viewer) -> set[str]:
    return {line.strip() for line in viewer.frame.evaluate(SHOWN).splitlines() if ENGLISH.search(line)}


@pytest.mark.parametrize("run", ["qkv", "ranks", "nan", "tensor", "build"])
def test_no_panel_speaks_english(page: Page, bug_tensorboard: str, bug_logs: str, run: str) -> None:
    viewer = in_chinese(page, bug_tensorboard, run_named(bug_logs, run))
    seen = english_lines(viewer)
    for name in PANELS:
        button = viewer.frame.get_by_role("navigation", name="面板").get_by_role("button", name=name, exact=True)
        if button.count():
            button.click()
            expect(viewer.frame.locator("aside.panel h2").first).to_be_visible()
            seen |= english_lines(viewer)
    for _ in range(8 if run != "build" else 0):
        page.keyboard.press("n")
        viewer.wait("s.details && s.details.rows >= 0")
        seen |= english_lines(viewer)
    assert not seen


@pytest.mark.parametrize("run", ["mapped", "md5"])
def test_what_the_converter_noticed_is_said_in_chinese(page: Page, mapped_tensorboard: str, mapped_logs: str, run: str) -> None:
    viewer = in_chinese(page, mapped_tensorboard, run_named(mapped_logs, run))
    viewer.frame.get_by_role("button", name=re.compile(r"^\d+ 条提示$")).click()
    notes = viewer.frame.locator("ul.warnings li")
    expect(notes.first).to_contain_text(re.compile("[\u4e00-\u9fff]{4}"))
    assert not english_lines(viewer)


def test_how_a_pair_was_found_is_said_in_chinese(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_chinese(page, bug_tensorboard, run_named(bug_logs, "qkv"))
    viewer.wait("s.details && s.details.rows > 0")
    expect(viewer.frame.locator(".evidence")).to_contain_text("各部分权重合并后范数相同")
    frame = viewer.frame
    frame.get_by_role("button", name="EN", exact=True).or_(frame.get_by_role("button", name=re.compile("Switch to English"))).first.click()
    expect(viewer.frame.locator(".evidence")).to_contain_text("weights put together have the same norm")


def test_a_mistake_in_a_mapping_is_told_in_chinese_with_its_place(page: Page, bug_tensorboard: str, bug_logs: str) -> None:
    viewer = in_chinese(page, bug_tensorboard, run_named(bug_logs, "qkv"))
    page.keyboard.press("l")
    viewer.frame.get_by_role("tab", name="文本").click()
    text = viewer.frame.get_by_role("textbox", name="映射文件文本")
    text.fill("MLP:\n  a: b\n  a: c\n")
    expect(viewer.frame.locator(".side-panel .problem")).to_contain_text("第 3 行第 3 列：'a' 在此重复，首次出现在第 2 行：请只保留一个")
    text.fill(UNUSED)
    viewer.frame.get_by_role("tab", name="规则").click()
    notes = viewer.frame.locator(".side-panel")
    expect(notes).to_contain_text("两侧都没有类 'NoSuchClass'")
    expect(notes).to_contain_text("规则未命中：待调试侧的 TransformerLayer 之下都没有 'mlpp'：是否应为 'mlp'？")
    assert not english_lines(viewer)
    forget_refusals(page, 422)
