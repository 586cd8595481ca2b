#!/usr/bin/env bash
# Makes a folder of wheels for a machine with a GPU and no package registry, and prints the command to run there.
# usage: bench/gpu/carry.sh [DIR]      (default .whl, which git ignores)
#
# That machine has x86-64 Linux, Python 3.12, numpy, CuPy and, for all of the tests, numba, scipy, pyarrow, rich,
# click, pytest and hypothesis; they are not carried (CuPy and llvmlite alone are 69 and 60 MB). The benchmark
# needs nothing but numpy and CuPy, and its parts paged and exact what is carried (10 MB) and numba: it lets
# emdiam's stores, and with them the engines and the tests, be imported.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${1:-.whl}
most=$((64 << 20))
mkdir -p "$dir"
python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
  --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
  --platform manylinux2014_x86_64 --platform manylinux1_x86_64 -d "$dir" \
  zarr==3.1.6 numcodecs==0.16.6 donfig==0.8.1.post1 google-crc32c==1.9.0 msgspec==0.22.0 crc32c==2.9.post0
bytes=$(cat "$dir"/*.whl | wc -c)
if ((bytes > most)); then
  echo "the wheels in $dir have $bytes bytes, more than $most: empty the folder and run this again" >&2
  exit 1
fi
# --target and PYTHONPATH, not a virtual environment: one made of Python there would not see its CuPy. The project
# itself is used from its folder.
cat <<COMMAND
wheels: $dir, $bytes bytes. Take it and the repository along; there, in the repository, run
  python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target /tmp/site $dir/*.whl && PYTHONPATH=/tmp/site:\$PWD python3 -m bench.gpu --out \${OUT:-bench/results/gpu} --seconds 540
or, for more time for each part, three calls of at most ten minutes, with what the one before has left in \$OUT/rows:
  --resume --only smoke,compile,facts,verify,sanitize
  --resume --only smoke,variants,floor,persistent,dal,regimes
  --resume --only smoke,paged,exact,dal-exact,tests
COMMAND
