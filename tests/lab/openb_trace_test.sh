# The real pod list of Alibaba's openb trace, read in place.
. "$(dirname "$0")/lab.sh"

if [ -z "${MARA_TRACES:-}" ]; then
  echo "skipped: set MARA_TRACES"
  exit 0
fi
pods=$MARA_TRACES/openb/openb_pod_list_default.csv
accepted "trace" trace "$pods" --format openb --json
expect "trace: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "trace: file order and times are sound" awk '$1 == ".jobs" { jobs = $2 } $1 == ".load_gpus" { load = $2 }
  END { exit !(jobs > 5000 && load > 0) }' seen/flat
accepted "compare" compare --trace "$pods" --format openb --steps 512 --flow-steps 20 --threads 1 --json
expect "compare: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "compare: every policy finishes every job" awk '
  /^[.]policies.*[.]unfinished / { ++policies; if ($2 != 0) exit 1 }
  /^[.]policies.*[.]finished / { if ($2 < 1000) exit 1 }
  END { exit policies != 10 }' seen/flat
expect "compare: shares of a GPU are in jobs.csv" grep -Eq '^mara,.*,0[.][0-9]+,[a-z0-9]+$' work/mara-report/jobs.csv
expect "compare: pods without a GPU are reported" grep -q "rows of the trace describe no GPU job" work/mara-report/summary.json
refused "openb with another reader" "$pods:1: field 'name': unknown column" compare --trace "$pods" --format muri
refused "a list of nodes" "openb_node_list_gpu_node.csv: format: .* begins an openb node list" \
  trace "$MARA_TRACES/openb/openb_node_list_gpu_node.csv"
refused "pods without times" "openb_pod_list_multigpu20.csv:1: field 'gpu_spec': column is missing" \
  compare --trace "$MARA_TRACES/openb/openb_pod_list_multigpu20.csv" --format openb
finish
