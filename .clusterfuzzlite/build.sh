#!/usr/bin/env bash
# Builds every fuzz target into $OUT as ClusterFuzzLite asks for it: with $CC, $CXX, $CFLAGS, $CXXFLAGS
# and $LIB_FUZZING_ENGINE, below $WORK, from the working directory. Beside each target lie its options,
# its dictionary and its part of the corpus. `ci/test` runs it with the same variables.
set -euo pipefail
for variable in OUT WORK CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE SANITIZER; do
  [[ -n ${!variable-} ]] || { echo "build.sh: $variable is not set; the platform sets it" >&2; exit 2; }
done
[[ -e .clusterfuzzlite/build.sh ]] || { echo "build.sh: run it from the project's root" >&2; exit 2; }
if [[ $SANITIZER == memory ]]; then
  echo "build.sh: MemorySanitizer needs all code instrumented, and what judges is not" >&2
  exit 2
fi

# What instruments is for the code that is searched, and the rest for all.
instrument=() c_flags=() cxx_flags=()
for flag in $CFLAGS; do
  case "$flag" in
    -fsanitize* | -fno-sanitize* | -fno-omit-frame-pointer | -fprofile-* | -fcoverage-*)
      instrument+=("$flag")
      ;;
    *) c_flags+=("$flag") ;;
  esac
done
for flag in $CXXFLAGS; do
  [[ " ${instrument[*]} " == *" $flag "* ]] || cxx_flags+=("$flag")
done
joined=$(IFS=';' && echo "${instrument[*]}")
unset CFLAGS CXXFLAGS LDFLAGS

# Whole paths: a name would be looked for again, wherever a later build's path leads.
cmake -S . -B "$WORK" -G Ninja -DCMAKE_C_COMPILER="$(command -v "$CC")" \
  -DCMAKE_CXX_COMPILER="$(command -v "$CXX")" \
  -DCMAKE_C_FLAGS="${c_flags[*]-}" -DCMAKE_CXX_FLAGS="${cxx_flags[*]-}" -DCMAKE_BUILD_TYPE=Release \
  -DDELTAPROOF_CUDA=OFF -DDELTAPROOF_FUZZ=ON -DDELTAPROOF_FUZZ_MUTANTS=OFF \
  -DDELTAPROOF_FUZZ_INSTRUMENT="$joined" -DDELTAPROOF_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$WORK" --target fuzz_targets -j "$(nproc)"

source ci/fuzz_search
mkdir -p "$OUT"
cp fuzz/*.dict fuzz/*.options "$OUT/"
for source in fuzz/fuzz_*.cpp; do
  target=${source##*/}
  target=${target%.cpp}
  cp "$WORK/fuzz/$target" "$OUT/"
  inputs=$(mktemp -d "$WORK/inputs.XXXXXX")
  copy_by_hash "$inputs" 0 1 $(replayed_folders "$target") "corpus/fuzz/$target"
  names=("$inputs"/*)
  [[ ${#names[@]} -gt 0 ]] || { echo "build.sh: the corpus has no input for $target" >&2; exit 1; }
  rm -f "$OUT/${target}_seed_corpus.zip"
  (cd "$inputs" && cmake -E tar cf "$OUT/${target}_seed_corpus.zip" --format=zip -- "${names[@]##*/}")
  rm -r "$inputs"
done
