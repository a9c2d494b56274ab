# mara-lab simulate on real traces, read in place: figures that other simulators give for the same jobs.
. "$(dirname "$0")/lab.sh"

if [ -z "${MARA_TRACES:-}" ]; then
  echo "skipped: set MARA_TRACES"
  exit 0
fi
number() { # number PATH: from seen/flat
  awk -v path="$1" '$1 == path { print $2 }' seen/flat
}
near() { # near NAME VALUE EXPECTED TOLERANCE
  checks=$((checks + 1))
  awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && d <= t && -d <= t) }' || fail "$1: $2, expected $3"
}
summary() { # summary NAME ARGUMENT...: runs and flattens the JSON
  name=$1
  shift
  accepted "$name" simulate --json "$@"
  expect "$name: JSON" awk -f "$here/json.awk" seen/out > seen/flat
}
traces=$MARA_TRACES

# Muri's simulator: mean JCT with its overheads and without.
muri="--trace $traces/philly/muri_trace3.csv --run-time iterations --cluster 8x8"
summary "muri" $muri --policy srtf,srsf --preempt repack --overhead muri
near "muri: SRTF" "$(number '.policies[0].jct_s.mean')" 193081.8 0.05
near "muri: SRSF" "$(number '.policies[1].jct_s.mean')" 185021.9 0.05
summary "muri without overhead" $muri --policy srtf,srsf --preempt repack
near "muri: SRTF without overhead" "$(number '.policies[0].jct_s.mean')" 190377.4 0.05
near "muri: SRSF without overhead" "$(number '.policies[1].jct_s.mean')" 183966.0 0.05
summary "muri: LAS" $muri --policy las --placement any --overhead muri
near "muri: LAS" "$(number '.policies[0].jct_s.mean')" 347213.2 0.05

# Batsim: mean wait, mean slowdown and makespan with EASY and conservative backfill.
batsim="--trace $traces/hpc/batsim_medium_late_801.csv --cluster 32x1 --placement any --policy fcfs"
summary "batsim EASY" $batsim --backfill easy
near "batsim EASY: wait" "$(number '.policies[0].queueing_s.mean')" 9.516326 1e-6
near "batsim EASY: slowdown" "$(number '.policies[0].mean_slowdown')" 1.391621 1e-6
near "batsim EASY: makespan" "$(number '.policies[0].end_s')" 16088.51 0.01
summary "batsim conservative" $batsim --backfill conservative
near "batsim conservative: wait" "$(number '.policies[0].queueing_s.mean')" 9.852251 1e-6
near "batsim conservative: slowdown" "$(number '.policies[0].mean_slowdown')" 1.387017 1e-6

# Tiresias: mean JCT of a preemptive policy on 16 GPUs.
summary "tiresias" --trace "$traces/tiresias/60_job.csv" --format tiresias --cluster 4x4 --policy srtf,srsf --preempt repack
near "tiresias: shortest" "$(number '.policies[0].jct_s.mean')" 192.1167 1e-4
near "tiresias: shortest-gpu" "$(number '.policies[1].jct_s.mean')" 195.9 1e-4

# Every format is guessed and runs.
for file in hpc/NASA-iPSC-1993-3.1-cln.swf.gz philly/philly_jobs_20170904_20171015.csv.gz philly/chronus_philly_slo.csv.gz \
  philly/elasticflow_103959.csv shockwave/tacc_120jobs.trace mooncake/conversation_first3000.jsonl; do
  accepted "$file" simulate --trace "$traces/$file" --cluster 321x8 --policy fcfs --limit 2000
done
accepted "gavel" simulate --trace "$traces/gavel/small_test.trace" --throughputs "$traces/gavel/simulation_throughputs.json.gz" \
  --cluster v100:4x4 --policy fcfs,las
accepted "openb on its nodes" simulate --trace "$traces/openb/openb_pod_list_default.csv" \
  --cluster "@$traces/openb/openb_node_list_all_node.csv" --policy fcfs --placement fgd --json
expect "openb: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "openb: all run" test "$(number '.policies[0].unfinished')" = 0
finish
