# The engine beside independent simulators, on their inputs and outputs, read in place.
. "$(dirname "$0")/lab.sh"

if [ -z "${MARA_TRACES:-}" ] || [ -z "${MARA_GOLDEN:-}" ]; then
  echo "skipped: set MARA_TRACES and MARA_GOLDEN"
  exit 0
fi
accepted "validate" validate --json
expect "validate: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "validate: all six peers, every value" awk '
  /^[.]checks.*[.]mismatches / { ++checks; if ($2 != 0) exit 1 }
  /^[.]checks.*[.]compared / { compared += $2 }
  END { exit !(checks == 31 && compared >= 20000) }' seen/flat

# A peer's output that says something else is found.
mkdir golden
cp "$MARA_GOLDEN"/* golden/
chmod u+w golden/*
sed -i '5s/,[0-9.]*,/,1.5,/' golden/muri_jobs_trace3.csv
code=0
"$MARA_LAB" validate --golden "$PWD/golden" > seen/out 2> seen/err || code=$?
expect "an output that differs: exit code" test "$code" -eq 1
expect "an output that differs: counted" grep -q "1 of [0-9]* values differ" seen/err
expect "an output that differs: named" grep -q "first: job 3 start: .* expected 1.5" seen/out
refused "a folder that is not there" "nowhere/hpc/batsim_medium_late_801.csv: no such file" validate --traces nowhere
unset MARA_TRACES
refused "no folder of traces" "--traces: not given, and MARA_TRACES is not set" validate
finish
