#!/bin/sh
# bench/run.sh BUILD RESULTS [PEERS VENV]
#
# Measures training and prediction in process with the programs in BUILD/bench (a build with
# -DSLIPWAY_BENCHMARKS=ON) and appends lines of JSON to RESULTS. With PEERS (the folder of the
# peers' scripts) and VENV (made by PEERS/setup.sh) it runs the peers in the same minutes: PASSES
# rounds (2) in which all take turns, SECONDS_EACH (3) a workload, THREADS ("1 2") at a time.
# PEERS/report.py RESULTS prints the table.
set -eu
if [ $# -ne 2 ] && [ $# -ne 4 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
build=$1
results=$2
seconds=${SECONDS_EACH:-3}
for pass in $(seq "${PASSES:-2}"); do
  echo "pass $pass" >&2
  for threads in ${THREADS:-1 2}; do
    "$build/bench/train_dense" --threads="$threads" --seconds="$seconds" >>"$results"
    "$build/bench/train_dense" --threads="$threads" --seconds="$seconds" --data=random >>"$results"
    if [ $# -eq 4 ]; then
      for engine in ${ENGINES:-keras-tf-fit tf-function jax-step torch-eager}; do
        # A peer that is not installed is left out; its own message says so.
        "$4/bin/python" "$3/train/run.py" "$engine" --threads "$threads" --seconds "$seconds" \
          --work mlp >>"$results" || true
      done
    fi
  done
  "$build/bench/predict_dense" --seconds="$seconds" >>"$results"
done
