"""Package metadata. The front end's bundle is built by build_backend/backend.py before setuptools collects files."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'^VERSION = "(.+)"', (HERE / "converter/version.py").read_text(encoding="utf-8"), re.M).group(1)
README = HERE / "README.md"

DEPENDENCIES = [
    "numpy>=1.22",  # columns
    "protobuf>=6.31,<8",  # graph files; the generated code is of 6.31, which runs on 6.31 up to the end of 7
    "pyyaml>=6.0",  # mapping files, policies, match files
    "msgspec>=0.18",  # reads dump.json several times faster than the standard library
    "tensorboard>=2.18",  # the host of the viewer; brings werkzeug. Older ones need pkg_resources, which setuptools 82 dropped
    "tqdm>=4.60",  # progress bar
]

EXTRAS = {
    "torch": ["torch"],  # rare forms of .pt files: older than torch 1.6, sparse, quantised; the usual form needs no torch
    "ray": ["ray", "fsspec"],  # graph-convert --engine ray
    "remote": ["fsspec"],  # log directories and dumps at s3://, gs://, …; with the driver of the scheme (s3fs, gcsfs, …)
}
EXTRAS["test"] = [
    "pytest>=8",
    "hypothesis>=6.100",  # property tests of formats and numbers
    "playwright>=1.45",  # browser tests, on the Chromium of the system: no browser is downloaded
    "ruff>=0.6",
    "mypy>=1.11",
    "types-PyYAML",
    "types-protobuf>=6.30",
    "grpcio-tools>=1.75",  # checks that the generated code is current
    "setuptools>=77",  # wheel and sdist are built and looked into
    *EXTRAS["remote"],
]

setup(
    name="tb_graph_ascend",
    version=VERSION,
    description="Finds the first place where two runs of a model stop agreeing, and shows it in TensorBoard",
    long_description=README.read_text(encoding="utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.9",
    packages=find_packages(include=["converter", "converter.*", "tb_graph_ascend", "tb_graph_ascend.*", "mappings", "mappings.*"]),
    package_data={
        "tb_graph_ascend": ["static/*", "static/**/*"],
        "converter": ["**/*.yaml", "**/*.pyi"],
        "mappings": ["*.yaml", "**/*.yaml"],
    },
    install_requires=DEPENDENCIES,
    extras_require=EXTRAS,
    entry_points={
        "console_scripts": [
            "graph-convert = converter.cli:main",
            "graph-mapping = converter.mapping_cli:main",
            "graph-view = tb_graph_ascend.view_cli:main",
        ],
        "tensorboard_plugins": ["tb_graph_ascend = tb_graph_ascend.plugin:GraphLoader"],
    },
    classifiers=[
        "Environment :: Web Environment",
        "Intended Audience :: Developers",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Software Development :: Debuggers",
    ],
)
