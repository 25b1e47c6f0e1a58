"""Policy files: what the shipped ones hold, how one extends another, and what a person is told about each mistake."""

from __future__ import annotations

import math
import os
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.errors import UserError
from converter.judge.policy import Policy, Tolerance, load_policy, shipped_policies
from converter.judge.policy_source import SCHEMA, every_key, read_values
from converter.judge.reasons import CATALOGUE

EXTENDS = "extends: default\n"


def load(directory, text: str, name: str = "mine.yaml") -> Policy:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return load_policy(str(path))


def message(directory, text: str) -> str:
    """What is said about a policy file, without the directory."""
    with pytest.raises(UserError) as caught:
        load(directory, text)
    return str(caught.value).replace(f"{directory}{os.sep}", "")


# Shipped policies


def test_default_is_the_first_shipped_policy():
    assert shipped_policies()[0] == "default"
    assert "msprobe" in shipped_policies()


@pytest.mark.parametrize("name", shipped_policies())
def test_every_shipped_policy_is_free_of_mistakes_and_bears_its_name(name):
    assert load_policy(name).name == name


def test_default_judges_by_scale_and_gets_stricter_with_the_precision_of_the_dtype():
    policy = load_policy("default")
    assert policy.engine == "scale_aware"
    floats = [policy.tolerances[dtype] for dtype in ("float64", "float32", "float16", "bfloat16", "float8")]
    assert all(finer.error <= coarser.error and finer.warning <= coarser.warning for finer, coarser in zip(floats, floats[1:]))
    assert policy.msprobe is None


def test_every_reason_has_a_severity_and_the_catalogue_decides_where_the_file_is_silent(tmp_path):
    policy = load(tmp_path, EXTENDS + "severities: {value: note}")
    assert set(policy.severities) == {reason.id for reason in CATALOGUE}
    assert policy.severities["value"] == "note"
    assert policy.severities["shape"] == "error"


def test_msprobe_holds_the_thresholds_of_the_peer():
    policy = load_policy("msprobe")
    assert policy.engine == "msprobe"
    assert policy.msprobe is not None
    assert (policy.msprobe.relative_input_below, policy.msprobe.relative_output_above) == (0.1, 0.5)
    assert (policy.msprobe.growth_factor, policy.msprobe.growth_output_above) == (10, 0.1)
    assert policy.msprobe.thousandth_output_below == 0.1
    assert "_reduce_scatter_base" in policy.msprobe.placeholder_inputs
    assert policy.msprobe.dtype_exempt == ("qkv", "gate_up")


def test_statistic_factors_stand_in_the_order_of_the_columns(tmp_path):
    assert load(tmp_path, EXTENDS + "statistics: {Norm: 4, Mean: 3, Min: 2, Max: 1}").statistic_factor == (1, 2, 3, 4)


# Extending


def test_mappings_merge_down_to_single_keys(tmp_path):
    policy = load(tmp_path, EXTENDS + "tolerances:\n  float32: {error: 0.5}\n")
    default = load_policy("default")
    assert policy.tolerances["float32"] == Tolerance(default.tolerances["float32"].warning, 0.5)
    assert policy.tolerances["float16"] == default.tolerances["float16"]
    assert policy.gain == default.gain


def test_lists_replace(tmp_path):
    policy = load(tmp_path, EXTENDS + "apis: {cancelling: [sub]}\n")
    assert policy.cancelling == {"sub"}
    assert policy.receiving == load_policy("default").receiving


def test_a_policy_may_extend_a_file_beside_it_which_extends_another(tmp_path):
    (tmp_path / "team.yaml").write_text(EXTENDS + "name: team\ngain: 20\nrounding: 64\n", encoding="utf-8")
    policy = load(tmp_path, "extends: team.yaml\ngain: 30\n")
    assert (policy.gain, policy.rounding) == (30, 64)


def test_the_name_is_not_inherited_but_that_of_the_file(tmp_path):
    assert load(tmp_path, EXTENDS, "strict.yaml").name == "strict"
    assert load(tmp_path, EXTENDS + "name: ours\n", "strict.yaml").name == "ours"


def test_the_text_of_all_files_is_kept_so_that_a_graph_file_tells_how_it_was_judged(tmp_path):
    policy = load(tmp_path, EXTENDS + "gain: 30\n")
    assert policy.text.startswith(EXTENDS + "gain: 30\n")
    assert "extends default" in policy.text
    assert "bfloat16: {warning:" in policy.text


def test_a_shipped_name_wins_over_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_text(EXTENDS + "gain: 77\n", encoding="utf-8")
    assert load_policy("default").gain != 77
    assert load_policy(os.path.join(os.curdir, "default")).gain == 77


def test_files_that_extend_each_other_are_refused(tmp_path):
    (tmp_path / "other.yaml").write_text("extends: mine.yaml\n", encoding="utf-8")
    assert "other.yaml, line 1, column 1: 'mine.yaml' in turn extends this policy" in message(tmp_path, "extends: other.yaml\n")


def test_a_file_without_extends_must_be_complete(tmp_path):
    assert message(tmp_path, "gain: 3\n") == ("mine.yaml: 'tolerances.float64.warning' is missing: write it, or begin the file with "
                                              "'extends: default' to take from there what the file does not say")


def test_the_engine_msprobe_needs_its_figures(tmp_path):
    assert "'msprobe.relative.input_below' is missing: write it, or begin the file with 'extends: msprobe'" in message(
        tmp_path, EXTENDS + "engine: msprobe\n")


# Rules


def test_a_rule_stands_for_all_nodes_roles_and_dtypes_that_it_does_not_name(tmp_path):
    rule, = load(tmp_path, EXTENDS + "rules:\n  - {error: 0.5}\n").rules
    assert rule.nodes.search("Module.model.Model.forward.0")
    assert (rule.roles, rule.dtypes, rule.warning, rule.error) == (frozenset(), frozenset(), None, 0.5)


def test_rules_keep_their_order_and_line(tmp_path):
    text = "rules:\n- {nodes: a, error: 1}\n- nodes: 'layers\\.3\\.'\n  roles: [input, gradient]\n  warning: 0.25\n"
    rules = load(tmp_path, EXTENDS + text).rules
    assert [rule.line for rule in rules] == [3, 4]
    assert rules[1].nodes.search("Module.layers.3.mlp.MLP.forward.0")
    assert not rules[1].nodes.search("Module.layers.33.mlp.MLP.forward.0")
    assert (rules[1].roles, rules[1].warning, rules[1].error) == ({"input", "gradient"}, 0.25, None)


@pytest.mark.parametrize(("written", "meant"), [
    ("torch.float32", {"float32"}), ("BFloat16", {"bfloat16"}), ("boolean", {"bool"}), ("complex", {"complex64", "complex128"}),
])
def test_dtypes_of_a_rule_are_canonical(tmp_path, written, meant):
    assert load(tmp_path, EXTENDS + f"rules: [{{dtypes: [{written}], error: 1}}]").rules[0].dtypes == meant


def test_groups_of_dtypes_stand_for_all_their_members(tmp_path):
    dtypes = load(tmp_path, EXTENDS + "rules: [{dtypes: [float8, integer], error: 1}]").rules[0].dtypes
    assert {"float8_e4m3fn", "float8_e5m2", "int64", "uint8"} <= dtypes
    assert not dtypes & {"float16", "bool"}


def test_a_tolerance_may_be_endless(tmp_path):
    policy = load(tmp_path, EXTENDS + "tolerances: {other: {error: .inf}}\nrules: [{nodes: dropout, error: .inf}]")
    assert policy.tolerances["other"].error == math.inf
    assert policy.rules[0].error == math.inf


def test_a_statistic_is_switched_off_by_an_endless_factor(tmp_path):
    assert load(tmp_path, EXTENDS + "statistics: {Mean: .inf}").statistic_factor[2] == math.inf


def test_ignore_holds_regular_expressions(tmp_path):
    ignore, = load(tmp_path, EXTENDS + "ignore: ['dropout\\.\\d+']").ignore
    assert ignore.search("Functional.dropout.3.forward")


# What a person is told


def test_an_unknown_policy_lists_the_shipped_ones():
    with pytest.raises(UserError, match=r"there is no policy 'defualt': did you mean 'default'\? .*shipped policies are default, msprobe"):
        load_policy("defualt")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"policy file .*strict\.yaml does not exist: check the path"):
        load_policy(str(tmp_path / "strict.yaml"))


def test_a_directory_is_no_policy(tmp_path):
    with pytest.raises(UserError, match="is a directory: give a YAML file in it"):
        load_policy(str(tmp_path))


def test_a_base_that_is_not_there_is_told_at_the_line_that_names_it(tmp_path):
    assert message(tmp_path, "name: x\nextends: team.yaml\n").startswith("mine.yaml, line 2, column 1: policy file")


MISTAKES = {
    "": "mine.yaml: the file is empty: write 'extends: default'",
    "- gain": "mine.yaml, line 1, column 1: a policy file holds 'key: value' with the keys name, extends, engine",
    "gian: 3": "mine.yaml, line 1, column 1: 'gian' means nothing in a policy: did you mean 'gain'?",
    "noise: {tims: 3}": "mine.yaml, line 1, column 9: 'tims' means nothing in 'noise': did you mean 'times'?",
    "tolerances: {float31: {error: 1}}": "line 1, column 14: 'float31' means nothing in 'tolerances': did you mean 'float32'?",
    "severities: {shapes: note}": "line 1, column 14: 'shapes' means nothing in 'severities': did you mean 'shape'?",
    "severities: {shape: fatal}": "line 1, column 21: 'severities.shape' cannot be 'fatal': known are note, warning, error, not_comparable",
    "engine: msprob": "line 1, column 9: 'engine' cannot be 'msprob': did you mean 'msprobe'?",
    "gain: 1\ngain: 2": "mine.yaml, line 2, column 1: 'gain' is used twice here, first in line 1: keep one of the two",
    "gain: ten": "line 1, column 7: 'gain' must be a number, without quotes, but 'ten' stands here",
    "gain: '10'": "line 1, column 7: 'gain' must be a number, without quotes, but '10' stands here",
    "gain:": "line 1, column 6: 'gain' must be a number, without quotes, but nothing stands here",
    "gain: [1]": "line 1, column 7: 'gain' must be a number, without quotes, but a list stands here",
    "gain: .inf": "line 1, column 7: 'gain' must be a number, without quotes, but '.inf' stands here",
    "gain: 0.5": "line 1, column 7: 'gain' is 0.5: it must be 1 or more",
    "rounding: -1": "line 1, column 11: 'rounding' is -1: it must be 0 or more",
    "statistics: {Mean: 0}": "line 1, column 20: 'statistics.Mean' is 0: it must be more than 0",
    "roles: {activation: {}}": "line 1, column 21: 'roles.activation' must be a number, without quotes, but a block of keys stands here",
    "tolerances: {float32: {error: .nan}}":
        "line 1, column 31: 'tolerances.float32.error' must be a number, or .inf for no limit, without quotes, but '.nan' stands here",
    "roles: 3": "line 1, column 8: 'roles' holds 'key: value' with the keys activation, gradient, parameter, but '3' stands here",
    "apis: {cancelling: sub}": "line 1, column 20: 'apis.cancelling' must be a list, [] if it is to be empty, but 'sub' stands here",
    "apis: {cancelling: [[sub]]}": "line 1, column 21: 'apis.cancelling' must be a name, but a list stands here",
    "ignore: ['(a']":
        "line 1, column 10: '(a' in 'ignore' is no regular expression: missing ), unterminated subpattern, at its character 1",
    "name: !x y": "the tag !x means nothing here: remove it",
    "rules: {error: 1}": "line 1, column 8: 'rules' must be a list, [] if it is to be empty, but a block of keys stands here",
    "rules: [3]": "line 1, column 9: each entry of 'rules' holds nodes, roles, dtypes, warning, error, but '3' stands here",
    "rules: [{node: a, error: 1}]": "line 1, column 10: 'node' means nothing in a rule: did you mean 'nodes'?",
    "rules: [{nodes: a}]": "line 1, column 9: this rule sets nothing: write 'warning', 'error' or both",
    "rules: [{nodes: '*a', error: 1}]": "line 1, column 17: '*a' in 'nodes' is no regular expression: nothing to repeat",
    "rules: [{roles: [ouput], error: 1}]": "line 1, column 18: 'roles' cannot be 'ouput': did you mean 'output'?",
    "rules: [{dtypes: [flaot32], error: 1}]": "line 1, column 19: dtype 'flaot32' is not known: did you mean 'float32'?",
    "rules: [{error: 1, warning: 2}]": "line 1, column 9: 'error' is 1 and 'warning' 2 in this rule: an error is the larger one, swap them",
    "a: b: c": "mine.yaml, line 1, column 5: a second ': ' or wrong indentation",
}


@pytest.mark.parametrize("text", MISTAKES, ids=range(len(MISTAKES)))
def test_each_mistake_is_told_with_its_place_and_what_to_do(tmp_path, text):
    assert MISTAKES[text] in message(tmp_path, text)


def test_error_below_warning_is_told_in_the_file_that_the_user_writes(tmp_path):
    assert message(tmp_path, EXTENDS + "tolerances:\n  float32:\n    warning: 0.5\n") == (
        "mine.yaml, line 4, column 5: tolerances of float32: 'error' (0.00015) is below 'warning' (0.5): "
        "an error is the larger difference, so raise 'error' or lower 'warning'")


def test_bytes_that_are_not_utf_8_are_told_with_their_place(tmp_path):
    (tmp_path / "mine.yaml").write_bytes(b"gain: 3\nname: \xff\n")
    with pytest.raises(UserError, match=r"line 2, column 7: byte 0xFF is not UTF-8"):
        load_policy(str(tmp_path / "mine.yaml"))


# Properties


@given(st.floats(min_value=0, max_value=1e300, allow_nan=False))
def test_every_number_is_read_as_it_is_written(number):
    assert read_values(f"rounding: {number!r}", "x")["rounding"].value == number


@given(st.text(alphabet=string.ascii_letters + "{}[]:,-. \n'\"#&*!|>%@`0123456789\t", max_size=60))
def test_no_text_leads_to_anything_but_values_or_a_message_for_the_user(text):
    try:
        values = read_values(text, "x")
    except UserError as problem:
        assert str(problem).startswith("x")
    else:
        assert set(values) <= set(every_key())


def test_the_documentation_explains_every_key():
    with open(os.path.join(os.path.dirname(__file__), os.pardir, "docs", "policy.md"), encoding="utf-8") as stream:
        text = stream.read()
    words = {*SCHEMA, *(word for key in every_key() for word in key.split("."))}
    assert [word for word in sorted(words) if f"`{word}`" not in text] == []


def test_the_documented_severities_are_those_that_a_policy_may_set():
    with open(os.path.join(os.path.dirname(__file__), os.pardir, "docs", "policy.md"), encoding="utf-8") as stream:
        section = stream.read().split("### `severities`")[1].split("###")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == sorted(SCHEMA["severities"])
