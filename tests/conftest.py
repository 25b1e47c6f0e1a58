"""Shared test setup: tests marked `torch` or `ray` run where that package can be imported and are skipped elsewhere."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a busy machine is no failure
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for package in ("torch", "ray"):
        if importlib.util.find_spec(package) is None:
            for item in items:
                if item.get_closest_marker(package) is not None:
                    item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
