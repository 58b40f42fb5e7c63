#!/bin/sh
# Everything worth knowing about FCL on a CUDA device, in one command and under eight minutes: sh benchmarks/gpu.sh
#
#   1. builds fclc, or takes a ready one:     FCLC=path/to/fclc sh benchmarks/gpu.sh
#   2. times FCL beside hand-written kernels and CUB, Thrust and cuBLAS (benchmarks/run), and says which goals are
#      missed
#   3. runs the test directives of examples/ and tests/run/ on the device, a program for each processor of the host at
#      a time (JOBS=4: four)
#   4. compiles the examples with nvcc, warnings being errors, and looks for register spills
#   5. runs the test directives again under compute-sanitizer: memcheck, racecheck, synccheck
#
# Needs the CUDA toolkit (found in CUDA_HOME, by PATH, or in /usr/local/cuda) with a C compiler, and this repository.
# make, re2c and bison are needed only without FCLC; without python3 step 2 writes the bare measurements and no table.
# Writes JSON into benchmarks/results/, or into the directory RESULTS. SKIP_SANITIZER=1 leaves out step 5.
#
# A step that fails does not stop the others, and what there is no time for is named at the end. Exit status: 0 all
# good, 1 a step failed or was left out, 3 there is no way to start.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
fclc=${FCLC-}
[ -z "$fclc" ] || fclc=$(cd "$(dirname "$fclc")" && pwd)/$(basename "$fclc")
cd "$root"
results=${RESULTS-$root/benchmarks/results}
deadline=$(($(date +%s) + 470))
stamp=$(date -u +%Y-%m-%d-%H%M%S)
failed=
left_out=
is_late=

stop() {
  echo "gpu.sh: $*" >&2
  exit 3
}
title() { printf '\n== %s\n' "$*"; }
fail() {
  if [ -n "$is_late" ]; then
    is_late=
    left_out="$left_out
  $*"
    return
  fi
  echo "FAILED: $*"
  failed="$failed
  $*"
}
# limited SECONDS COMMAND…: at most so long, and never beyond the deadline of the whole script.
limited() {
  seconds=$1
  shift
  left=$((deadline - $(date +%s)))
  is_cut=
  [ "$left" -lt "$seconds" ] && seconds=$left && is_cut=yes
  status=124
  [ "$seconds" -le 0 ] || { timeout "$seconds" "$@" && return; status=$?; }
  [ "$status" -eq 124 ] && is_late=$is_cut
  return $status
}

# each SECONDS WHAT COMMAND…: the command with each program at its end, several at a time, for at most so long in all.
each() {
  seconds=$1 what=$2
  shift 2
  left=$((deadline - $(date +%s)))
  [ "$left" -lt "$seconds" ] && seconds=$left
  rm -rf "$work/each"
  mkdir "$work/each"
  for file in examples/*/*.fcl tests/run/*.fcl tests/run/*/*.fcl; do
    [ ! -f "$file" ] || echo "$file"
  done | xargs -P "$jobs" -I FILE sh "$work/try" $(($(date +%s) + seconds)) "$work/each" FILE "$@"
  passed=$(cat "$work/each"/*.good 2>/dev/null | grep -c .) || true
  echo "$what: right $passed"
  for file in "$work/each"/*.bad; do
    [ ! -f "$file" ] || { cat "$file" && fail "$what $(head -n 1 "$file")"; }
  done
  late=$(cat "$work/each"/*.late 2>/dev/null) || true
  [ -z "$late" ] || left_out="$left_out
  $what: $(echo "$late" | grep -c .) programs"
}

# ---------------------------------------------------------------- what there is

if [ -z "${CUDA_HOME-}" ]; then
  if nvcc=$(command -v nvcc); then
    CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  else
    CUDA_HOME=/usr/local/cuda
  fi
fi
[ -d "$CUDA_HOME" ] || stop "no CUDA toolkit in $CUDA_HOME; set CUDA_HOME"
export CUDA_HOME
PATH=$CUDA_HOME/bin:$CUDA_HOME/compute-sanitizer:$PATH
LD_LIBRARY_PATH=$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH
command -v timeout >/dev/null || stop "timeout (coreutils) is missing"
[ -n "${CC-}" ] || if command -v cc >/dev/null; then CC=cc; else CC=gcc; fi
export CC
jobs=${JOBS-$(nproc)}

title "Device"
if command -v nvidia-smi >/dev/null; then
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
fi
mkdir -p "$results"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# try DEADLINE FOLDER FILE COMMAND…: what comes of it lies in the folder, by whether it was right, wrong or too late.
cat >"$work/try" <<'EOF'
end=$1 into=$2/$(echo "$3" | tr / _) file=$3
shift 3
left=$((end - $(date +%s)))
status=124
if [ "$left" -gt 0 ]; then
  timeout "$left" "$@" "$file" >"$into" 2>&1
  status=$?
fi
case $status in
0) echo "$file" >"$into.good" ;;
124) echo "$file" >"$into.late" ;;
*) { echo "$file: exit status $status" && tail -n 40 "$into"; } >"$into.bad" ;;
esac
EOF
# Kernels that were built by another version must not be taken for this one's.
export XDG_CACHE_HOME="$work/cache"

# ---------------------------------------------------------------- build

title "fclc"
if [ -z "$fclc" ]; then
  for tool in make re2c bison "$CC"; do
    command -v "$tool" >/dev/null || stop "$tool is missing; install it, or give a ready compiler: FCLC=path/to/fclc"
  done
  limited 200 make -j"$(nproc)" CC="$CC" BUILD=build-gpu || stop "the build failed"
  fclc=$root/build-gpu/fclc
fi
[ -x "$fclc" ] || stop "$fclc is not there or cannot be executed"
"$fclc" --version || stop "$fclc does not run on this machine"
"$fclc" devices || true
limited 60 "$fclc" run --target=cuda examples/reverse/reverse.fcl reverseGrid '[1,2,3]' ||
  stop "the CUDA device does not work with fclc; see the message above"

# ---------------------------------------------------------------- times

# All tasks by the launches' own times, in which FCL's clearing of memory and the gaps between launches are not; then
# those with goals by the host's clock, at a size far beyond the second-level cache, where a launch is short. Half of
# the time is for the rest.
title "Times"
build=$work/build
if limited 200 sh benchmarks/build "$build"; then
  if command -v python3 >/dev/null; then
    left=$(((deadline - $(date +%s)) / 2))
    limited 200 python3 benchmarks/run --fclc "$fclc" --build "$build" --target cuda --time device --rounds 3 \
      --limit $((left * 6 / 10)) --save "$results/$stamp-cuda.json" || fail "benchmarks/run --target cuda"
    limited "$left" python3 benchmarks/run --fclc "$fclc" --build "$build" --target cuda --rounds 3 \
      --goals --sizes 2^26 --limit $((left * 4 / 10)) --save "$results/$stamp-cuda-large.json" ||
      fail "benchmarks/run --target cuda --sizes 2^26"
  else
    size=16777216
    file=$results/$stamp-cuda.json
    side=4096
    for round in 1 2 3; do
      for task in copy reverse transpose reduce; do
        limited 30 "$build/benchmarks/measure" --device cuda --size $size $task >>"$file" ||
          fail "reference $task $size"
      done
      limited 30 "$fclc" bench --json --target=cuda examples/reverse/reverse.fcl reverseGrid iota:$size >>"$file" ||
        fail "bench reverseGrid $size"
      limited 30 "$fclc" bench --json --target=cuda examples/transpose/transpose.fcl transposeTiles $side $side \
        iota:$size >>"$file" || fail "bench transposeTiles $size"
      limited 30 "$fclc" bench --json --target=cuda examples/reduce/reduce.fcl sumBlocks iota:$size >>"$file" ||
        fail "bench sumBlocks $size"
      echo "round $round of 3 for $size elements"
    done
    echo "no python3: the measurements, one JSON object a line, are in $file"
    cat "$file"
  fi
else
  fail "the program that measures the references cannot be built"
fi

# ---------------------------------------------------------------- tests

title "Tests on the device"
each 140 "fclc test --target=cuda" "$fclc" test --target=cuda

# ---------------------------------------------------------------- nvcc

title "nvcc"
if command -v nvcc >/dev/null; then
  for file in examples/*/*.fcl; do
    name=$(basename "$file" .fcl)
    limited 20 "$fclc" "$file" -o "$work/$name.cu" || {
      fail "fclc $file -o $name.cu"
      continue
    }
    for arch in sm_75 sm_90; do
      if limited 60 nvcc -std=c++17 -Werror all-warnings -Xptxas -v -arch=$arch -cubin -o "$work/$name.cubin" \
        "$work/$name.cu" >"$work/log" 2>&1; then
        if grep -E '[1-9][0-9]* bytes spill' "$work/log"; then fail "$file spills registers on $arch"; fi
        sed -n "s|.*Used \([0-9]* registers.*\)|$name $arch: \1|p" "$work/log"
      else
        [ -n "$is_late" ] || cat "$work/log"
        fail "nvcc -arch=$arch on $file"
      fi
    done
  done
else
  echo "skipped: nvcc is not in $CUDA_HOME/bin"
fi

# ---------------------------------------------------------------- compute-sanitizer

title "compute-sanitizer"
if [ -n "${SKIP_SANITIZER-}" ]; then
  echo "skipped, as asked"
elif command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    each 75 "compute-sanitizer --tool $tool (9: it found something)" \
      compute-sanitizer --tool $tool --error-exitcode 9 "$fclc" test --target=cuda
  done
else
  echo "skipped: compute-sanitizer is not in $CUDA_HOME"
fi

# ---------------------------------------------------------------- summary

title "Done"
ls -l "$results"/"$stamp"* 2>/dev/null || true
if [ -n "$failed" ]; then
  echo "These steps failed:$failed"
fi
if [ -n "$left_out" ]; then
  echo "There was no time left for:$left_out"
fi
[ -z "$failed$left_out" ] || exit 1
echo "Everything passed."
