"""Shared test setup: tests marked `torch` run where torch can be imported and are skipped elsewhere."""

from __future__ import annotations

import importlib.util

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.get_closest_marker("torch") is not None:
                item.add_marker(pytest.mark.skip(reason="torch is not installed"))
