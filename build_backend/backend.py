"""The build backend: setuptools, with the front end's bundle made first."""

from __future__ import annotations

import shutil
from typing import Any

import front_end
from setuptools import build_meta
from setuptools.build_meta import prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel  # noqa: F401 (hooks)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return build_meta.get_requires_for_build_wheel(config_settings) + front_end.requirements()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return build_meta.get_requires_for_build_editable(config_settings) + front_end.requirements()


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return build_meta.get_requires_for_build_sdist(config_settings) + front_end.requirements()


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    front_end.build()
    # setuptools copies into build/lib and never clears it: assets of an older bundle would come along.
    shutil.rmtree("build/lib", ignore_errors=True)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    front_end.build()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    front_end.build()
    return build_meta.build_sdist(sdist_directory, config_settings)
