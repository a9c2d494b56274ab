# mara-lab simulate: worked examples, its files, and errors that name the option.
. "$(dirname "$0")/lab.sh"

# Case S10: R runs on 6 of 10 machines until 100; then J1, J4, J2, J3 in this order.
cat > work/s10.csv << 'END'
id,submit,duration,gpus,estimate
0,0,100,6,100
1,0,50,8,50
2,0,101,4,101
3,0,100,4,100
4,0,500,2,500
END
# Two tenants and a deadline; job 2 waits for job 0.
cat > work/small.csv << 'END'
id,submit,duration,gpus,tenant,sla,deadline,model,after,types,cpu
0,0,10,1,ann,gold,15,bert,,,1
1,0,40,1,bob,basic,30,dqn,,,1
2,1,5,1,ann,gold,,bert,0,,1
3,2,20,2,bob,basic,100,dqn,,v100,1
END

# field POLICY COLUMN JOB: of jobs.csv in the folder given by $out.
field() {
  awk -F, -v policy="$1" -v column="$2" -v job="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
    $1 == policy && $2 == job { print $at }' "work/$out/jobs.csv"
}
starts() { # starts POLICY: of jobs 0, 1, 2, ... in one line
  awk -F, -v policy="$1" '$1 == policy { start[$2] = $4; if ($2 > last) last = $2 }
    END { for (i = 0; i <= last; ++i) printf "%s%s", start[i], i < last ? " " : "\n" }' "work/$out/jobs.csv"
}
is() { # is NAME VALUE EXPECTED
  checks=$((checks + 1))
  [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}
value() { # value PATH: of the JSON flattened to seen/flat
  awk -v path="$1" '$1 == path { sub(/^[^ ]+ /, ""); print }' seen/flat
}

out=s10
accepted "S10 EASY" simulate --trace s10.csv --cluster 10x1 --policy fcfs --backfill easy --out s10
is "S10: starts of R, J1, J4, J2, J3" "$(starts fcfs-easy)" "0 100 150 0 100"
is "S10: machines of J1" "$(field fcfs-easy nodes 1)" "0-7"
is "S10: devices of J3" "$(field fcfs-easy devices 4)" "2"
out=strict
accepted "S10 strict" simulate --trace s10.csv --cluster 10x1 --policy fcfs-strict,fcfs --out strict --threads 1
is "S10: nobody overtakes" "$(starts fcfs-strict)" "0 100 150 150 150"
is "S10: who fits may overtake" "$(starts fcfs)" "0 200 0 100 100"

out=small
accepted "small trace" simulate --trace small.csv --cluster 1x2 --policy fcfs,srtf,las,edf,random --out small --json
expect "small trace: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "format" "$(value .format)" '"mara-simulation"'
is "jobs finished" "$(value '.policies[0].finished')" 4
# fcfs: 0 and 1 at 0; 2 at 10, when 0 has ended; 3 needs both: 40. Ends 10, 40, 15, 60.
is "fcfs starts" "$(starts fcfs)" "0 0 10 40"
is "fcfs mean JCT" "$(value '.policies[0].jct_s.mean')" 30.5
is "fcfs deadlines missed" "$(value '.policies[0].deadline_misses')" 1
is "fcfs jobs with a deadline" "$(value '.policies[0].deadline_jobs')" 3
is "fcfs makespan" "$(value '.policies[0].makespan_s')" 60.0
expect "fcfs GPU use" awk 'BEGIN { x = '"$(value '.policies[0].gpu_utilisation')"' - 95 / 120
  exit !(x < 1e-12 && x > -1e-12) }'
is "tenants" "$(value '.policies[0].tenants[1].name')" '"bob"'
expect "tenant's GPU-hours" awk 'BEGIN { x = '"$(value '.policies[0].tenants[1].gpu_hours')"' - 80 / 3600
  exit !(x < 1e-12 && x > -1e-12) }'
is "classes" "$(value '.policies[0].sla_classes[0].name')" '"gold"'
is "p99 of a class" "$(value '.policies[0].sla_classes[1].p99_jct_s')" "57.82"
expect "no policy is below the bound" awk '/[.]jct_over_lower_bound / { ++n; if ($2 < 1 - 1e-12) exit 1 } END { exit n != 5 }' seen/flat
is "nothing preempted" "$(value '.policies[0].preemptions')" 0
# srtf: job 3 (20 s) takes the place of job 1, of which 25 s are left when job 2 ends at 15.
expect "srtf preempts" test "$(value '.policies[1].preemptions')" -gt 0
is "CPU of a cluster that does not say is ignored" "$(value '.notes[1]')" \
  '"the cluster does not say what CPU its nodes have; what jobs ask of it is ignored"'
is "a type that is not there is ignored" "$(value '.notes[0]')" \
  '"the device types that 1 job would take are none of the cluster'"'"'s; any type serves"'
for file in jobs.csv summary.json jct_cdf.svg utilisation.svg timeline_fcfs.svg timeline_random.svg; do
  expect "small/$file is there" test -s "work/small/$file"
done
expect "summary.json is what --json prints" sh -c 'sed "/\"timing\"/,\$d" work/small/summary.json > seen/a; sed "/\"timing\"/,\$d" seen/out > seen/b; cmp seen/a seen/b'

# The same results whatever the number of threads, also over those of an earlier run.
out=small
cp work/small/jobs.csv seen/jobs
cp work/small/summary.json seen/summary
accepted "once more" simulate --trace small.csv --cluster 1x2 --policy fcfs,srtf,las,edf,random --out small --json --threads 1
expect "same jobs" cmp seen/jobs work/small/jobs.csv
sed '/"timing"/,$d' seen/summary > seen/first
sed '/"timing"/,$d' work/small/summary.json > seen/second
expect "same summary" cmp seen/first seen/second

# Types, speeds, prices, costs of starting, load.
out=typed
accepted "types and speeds" simulate --trace small.csv --cluster v100=2:1x2:8c,p100:1x2:8c --speed p100=0.5 \
  --overhead fixed:1,2,3 --policy fcfs --out typed --json
expect "types and speeds: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "who may use one type only waits for it" "$(field fcfs nodes 3)" 0
is "costs of starting are held time" "$(field fcfs overhead 0)" 1
expect "price x hours held" awk 'BEGIN { x = '"$(value '.policies[0].cost')"' - 2 * (11 + 41 + 2 * 21 + 6) / 3600
  exit !(x < 1e-12 && x > -1e-12) }'
expect "energy of known types" awk 'BEGIN { exit !('"$(value '.policies[0].energy_kwh')"' > 0) }'
accepted "load" simulate --trace s10.csv --cluster 10x1 --limit 2 --policy sjf
grep -q "2 jobs" seen/out || fail "--limit: $(cat seen/out)"
awk -F, -v OFS=, 'NR > 1 { $2 = 100 * NR } { print }' work/s10.csv > work/spread.csv
accepted "load" simulate --trace spread.csv --cluster 10x1 --load 0.5 --policy sjf --json
expect "load: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "load is as asked" awk 'BEGIN { x = '"$(value .trace.load)"' - 0.5; exit !(x < 1e-12 && x > -1e-12) }'
accepted "too large dropped" simulate --trace s10.csv --cluster 7x1 --drop-too-large --policy fcfs --json
expect "too large dropped: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "one is left out" "$(value .trace.left_out)" 1
accepted "intervals" simulate --trace small.csv --cluster 1x2 --policy srtf --intervals --out intervals
is "columns of the intervals" "$(head -n 1 work/intervals/intervals.csv)" "policy,sequence,job,start,end,placement"
expect "intervals add up" awk -F, 'NR > 1 { held += ($5 - $4) * ($6 ~ /-/ ? 2 : 1) } END { exit !(held > 94.999 && held < 95.001) }' \
  work/intervals/intervals.csv

# Every policy, placement and backfill rule that there is runs to the end.
refused "unknown policy" "--policy: must be of fcfs, .*, got 'lottery'" simulate --trace small.csv --cluster 1x2 --policy lottery
policies=$(sed 's/.*must be of //; s/, got .*//; s/, /,/g' seen/err)
refused "unknown placement" "--placement: must be one of .*, got 'magic'" simulate --trace small.csv --cluster 1x2 --placement magic
placements=$(sed 's/.*must be one of //; s/, got .*//; s/, / /g' seen/err)
accepted "every policy" simulate --trace small.csv --cluster 2x2 --policy "$policies" --json
expect "every policy: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "every policy finishes all" awk '/^[.]policies\[[0-9]+\][.]finished / { ++n; if ($2 != 4) exit 1 } END { exit n < 16 }' seen/flat
for placement in $placements; do
  accepted "placement $placement" simulate --trace s10.csv --cluster 5x2:4c --policy fcfs,srtf --placement "$placement" --json
done
accepted "conservative" simulate --trace s10.csv --cluster 10x1 --policy fcfs,sjf --backfill conservative --json
expect "conservative: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "name with backfill" "$(value '.policies[1].name')" '"sjf-conservative"'
accepted "elastic" simulate --trace small.csv --cluster 1x8 --policy optimus,hesrpt --elastic 4 --speed-up 0.7 --json
expect "elastic: JSON" awk -f "$here/json.awk" seen/out > seen/flat
# More GPUs than asked for: faster than the run times of the trace.
expect "elastic: faster" awk 'BEGIN { exit !('"$(value '.policies[0].jct_s.mean')"' < 15) }'
accepted "repack" simulate --trace small.csv --cluster 1x2 --policy srtf,fcfs --preempt repack --json

# Failures: what they lose, and that a seed decides them.
cat > work/long.csv << 'END'
id,submit,duration,gpus
0,1000,5000,2
1,1000,5000,2
2,1000,3000,1
3,2000,800,1
END
failing="simulate --trace long.csv --cluster 3x2 --policy fcfs,srtf --failures 2000,300"
lost() { # lost FOLDER MOST: no job of the folder lost more than that at each failure; prints the sum
  awk -F, -v most="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { sum += $at["lost"]; if ($at["lost"] > most * $at["failures"] + 1e-9) bad = 1 }
    END { printf "%.17g\n", sum; exit bad }' "work/$1/jobs.csv"
}
for save in 100 700 never; do
  accepted "checkpoint $save" $failing --checkpoint $save --out "save-$save" --json
  expect "checkpoint $save: JSON" awk -f "$here/json.awk" seen/out > "seen/flat-$save"
done
accepted "nothing lost" $failing --out save-0 --json
expect "nothing lost: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "nodes fail" test "$(value '.policies[0].outages.node_failures')" -gt 3
expect "jobs fail" test "$(value '.policies[0].failures')" -gt 0
is "all restarts follow a failure" "$(value '.policies[0].outages.restarts')" "$(value '.policies[0].failures')"
is "nothing is lost without --checkpoint" "$(value '.policies[0].outages.lost_gpu_hours')" 0.0
is "the option is told" "$(value '.options.failures')" '"2000,300"'
expect "nodes are down" awk 'BEGIN { x = '"$(value '.policies[0].outages.down_share')"'; exit !(x > 0.01 && x < 0.5) }'
expect "at most 0 s a failure" lost save-0 0 > seen/lost
expect "at most 100 s a failure" lost save-100 100 > seen/lost-100
expect "at most 700 s a failure" lost save-700 700 > seen/lost-700
expect "without checkpoints all" lost save-never 1e9 > seen/lost-never
expect "fewer checkpoints lose more" awk 'BEGIN { exit !(0 < '"$(cat seen/lost-100)"' && '"$(cat seen/lost-100)"' < '"$(cat seen/lost-700)"' && '"$(cat seen/lost-700)"' < '"$(cat seen/lost-never)"') }'
cp seen/flat-never seen/flat
expect "lost work is no goodput" awk 'BEGIN { x = '"$(value '.policies[0].goodput')"' * '"$(value '.policies[0].gpu_hours')"' + '"$(value '.policies[0].outages.lost_gpu_hours')"' - '"$(value '.policies[0].gpu_hours')"'
  exit !(x < 1e-9 && x > -1e-9) }'
accepted "failures once more" $failing --checkpoint 700 --out once-more --threads 1
expect "a seed decides" cmp work/save-700/jobs.csv work/once-more/jobs.csv
for column in failures restarts "lost, GPU-h" down goodput; do
  expect "table: $column" grep -q " $column" seen/out
done
accepted "another seed" $failing --checkpoint 700 --out once-more --seed 2
expect "another seed, other failures" sh -c '! cmp -s work/save-700/jobs.csv work/once-more/jobs.csv'
# More failures than jobs can stand: the run ends all the same, and says so.
accepted "failures without end" simulate --trace long.csv --cluster 3x2 --policy fcfs --failures 100,1 --checkpoint never
expect "failures without end: said" grep -q "^note: fcfs: the run went on after the last outage" seen/out

# Maintenance: node 0 down in [1100, 1400), node 1 in [2100, 2400); the jobs are preempted and lose nothing.
out=planned
printf 'id,submit,duration,gpus\n0,1000,500,1\n1,1000,1500,1\n' > work/planned.csv
accepted "maintenance" simulate --trace planned.csv --cluster 2x1 --policy fcfs --maintenance 100,300,0,1000 --out planned --json
expect "maintenance: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "maintenance: job 0 waits for its node" "$(field fcfs end 0)" 1800
is "maintenance: job 1 moves to the other" "$(field fcfs end 1)" 2500
is "maintenance: both were preempted" "$(value '.policies[0].preemptions')" 2
is "maintenance: they went on" "$(value '.policies[0].outages.restarts')" 2
is "maintenance: planned once a node" "$(value '.policies[0].outages.node_maintenances')" 2
is "maintenance: no failure" "$(value '.policies[0].outages.node_failures')" 0
is "maintenance: 600 of 3000 s" "$(value '.policies[0].outages.down_share')" 0.2
accepted "maintenance again and again" simulate --trace planned.csv --cluster 1x2 --policy fcfs --maintenance 100,100,400 --out planned --json
# Down in [1100, 1200), [1500, 1600), [1900, 2000), [2300, 2400), [2700, 2800).
is "maintenance: 1500 s of work in 300 s at a time" "$(field fcfs end 1)" 3000

# Distance: 100 s on nodes of two racks, of one rack, and on one node with two NUMA domains.
out=far
printf 'id,submit,duration,gpus\n0,0,100,8\n1,200,100,4\n2,400,100,2\n3,600,100,1\n' > work/far.csv
accepted "topology" simulate --trace far.csv --cluster 4x2/2 --policy fcfs --topology numa=0.8,node=0.5,rack=0.25,domains=2 --out far
is "topology: two racks" "$(field fcfs end 0)" 400
out=near
accepted "topology" simulate --trace far.csv --cluster 4x2/2 --policy fcfs --topology numa=0.8,node=0.5,domains=2 --out near --json
is "topology: two racks, but their distance is free" "$(field fcfs end 0)" 100
is "topology: two nodes" "$(field fcfs end 1)" 400
is "topology: two domains" "$(field fcfs end 2)" 525
is "topology: one device" "$(field fcfs end 3)" 700
accepted "topology: one rack" simulate --trace far.csv --cluster 4x2 --policy fcfs --topology rack=0.5
expect "topology: one rack is told" grep -q "^note: all nodes are in one rack" seen/out

# Neighbours: two jobs on halves of one device, then one of them alone.
out=halves
printf 'id,submit,duration,gpus,model\n0,0,100,0.5,one\n1,0,300,0.5,two\n' > work/halves.csv
accepted "no interference" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --out halves
is "no interference: as the trace has it" "$(field fcfs end 0) $(field fcfs end 1)" "100 300"
accepted "sharing" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --interference sharing --out halves
# Job 1 has 200 s of its half left at 100: 100 s on the whole device.
is "sharing: alone it has the device" "$(field fcfs end 0) $(field fcfs end 1)" "100 200"
accepted "sharing with changes" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --interference sharing:3,1 --out halves
expect "sharing: changes cost a quarter" awk 'BEGIN { x = '"$(field fcfs end 0)"' - 400 / 3; exit !(x < 1e-9 && x > -1e-9) }'
accepted "bandwidth" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --out halves \
  --interference 'bandwidth:one=600,*=600/1' --bandwidth v100=900,pcie=32
expect "bandwidth: 1200 of 900 GB/s" awk 'BEGIN { x = '"$(field fcfs end 0)"' - 400 / 3; exit !(x < 1e-9 && x > -1e-9) }'
expect "bandwidth: alone at full speed" awk 'BEGIN { x = '"$(field fcfs end 1)"' - 1000 / 3; exit !(x < 1e-9 && x > -1e-9) }'
accepted "PCIe" simulate --trace far.csv --cluster 1x8 --policy fcfs --interference sharing
expect "whole devices are not shared" grep -q "^note: every job asks for whole devices" seen/out
cat > work/pairs.json << 'END'
{"v100": {"('one', 1)": {"null": 10.0, "('two', 1)": [5.0, 2.0]}, "('two', 1)": {"null": 4.0, "('one', 1)": [2.0, 5.0]}}}
END
accepted "measured" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --out halves --throughputs pairs.json \
  --interference measured --json
expect "measured: JSON" awk -f "$here/json.awk" seen/out > seen/flat
# Each at half of its speed on the whole device, so at its speed on the half; then job 1 alone.
is "measured: as the pair" "$(field fcfs end 0) $(field fcfs end 1)" "100 200"
is "measured: no bound" "$(value '.trace.lower_bound_mean_jct_s')" null
sed 's/5.0, 2.0/8.0, 1.0/; s/2.0, 5.0/1.0, 8.0/' work/pairs.json > work/uneven.json
accepted "measured unevenly" simulate --trace halves.csv --cluster v100:1x1 --policy fcfs --out halves \
  --throughputs uneven.json --interference measured
# Job 0 at 1.6, job 1 at 0.5 of the half: 62.5 s, then 300 - 31.25 = 268.75 at 2.
is "measured: each its own" "$(field fcfs end 0) $(field fcfs end 1)" "62.5 196.875"
sed 's/,two/,three/' work/halves.csv > work/unknown.csv
accepted "measured, unknown model" simulate --trace unknown.csv --cluster v100:1x1 --policy fcfs --throughputs pairs.json --interference measured
expect "an unknown model is told" grep -q "^note: 1 job on a share of a device" seen/out

# The time of decisions: each start waits, with the costs of --overhead on top.
out=slow
accepted "decision time" simulate --trace s10.csv --cluster 10x1 --policy fcfs-strict --decision-time 2 --overhead fixed:1,0,0 --out slow --json
expect "decision time: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "decision time: R ends later" "$(field fcfs-strict end 0)" 103
is "decision time: held, not worked" "$(field fcfs-strict overhead 0)" 3
is "decision time: told" "$(value '.options.decision_time_s')" 2.0
# Nothing of all this is said when it is off.
accepted "plain" simulate --trace s10.csv --cluster 10x1 --policy fcfs --json --decision-time 0 --interference none
for word in outages failures checkpoint maintenance topology interference bandwidth decision_time; do
  expect "plain: no $word" sh -c "! grep '\"options\"' -A 14 seen/out | grep -q $word"
done

# Figures of an earlier run go, whatever else is in the folder stays.
accepted "earlier run" simulate --trace s10.csv --cluster 10x1 --policy fcfs,sjf --backfill easy --intervals --out again
expect "earlier run: figure" test -s work/again/timeline_sjf-easy.svg
echo '<svg>mine, not GNUPLOT of a policy</svg>' > work/again/timeline_mine.svg
echo 'mine' > work/again/timeline_srtf.svg
echo 'mine' > work/again/notes.txt
mkdir work/again/timeline_las.svg
accepted "later run" simulate --trace s10.csv --cluster 10x1 --policy fcfs --out again
is "later run: files" "$(ls work/again | tr '\n' ' ')" \
  "jct_cdf.svg jobs.csv notes.txt summary.json timeline_fcfs.svg timeline_las.svg timeline_mine.svg timeline_srtf.svg utilisation.svg "
# A folder without a summary is not from an earlier run.
mkdir work/foreign
cp work/again/timeline_fcfs.svg work/foreign/timeline_sjf.svg
accepted "foreign folder" simulate --trace s10.csv --cluster 10x1 --policy fcfs --out foreign
expect "foreign folder: its figure stays" test -s work/foreign/timeline_sjf.svg

# A pipe can be read, a device cannot.
checks=$((checks + 1))
(cd work && "$MARA_LAB" simulate --trace /dev/stdin --cluster 10x1 --policy fcfs < s10.csv) > seen/file 2> seen/err || fail "stdin: $(cat seen/err)"
(cd work && cat s10.csv | "$MARA_LAB" simulate --trace /dev/stdin --cluster 10x1 --policy fcfs) > seen/out 2> seen/err || fail "pipe: $(cat seen/err)"
expect "a pipe as a file" cmp seen/file seen/out
if [ -c /dev/zero ]; then
  refused "endless trace" "--trace: /dev/zero: is neither a file nor a pipe" simulate --trace /dev/zero --cluster 8x8
  refused "endless table" "--throughputs: /dev/zero: is neither a file nor a pipe" \
    simulate --trace small.csv --cluster 8x8 --throughputs /dev/zero
  refused "endless nodes" "--cluster: /dev/zero: is neither a file nor a pipe" simulate --trace small.csv --cluster @/dev/zero
fi
refused "folder as a trace" "--trace: again: is a directory" simulate --trace again --cluster 8x8

# Without gnuplot there are results, and a line that says what is missing.
checks=$((checks + 1))
mkdir nothing
(cd work && PATH="$scratch/nothing" "$MARA_LAB" simulate --trace small.csv --cluster 1x2 --policy fcfs --out plain) > seen/out 2> seen/err
code=$?
[ "$code" -eq 0 ] || fail "without gnuplot: exit code $code"
grep -q "^mara-lab simulate: no figures: gnuplot was not found" seen/err || fail "without gnuplot: $(cat seen/err)"
expect "without gnuplot: summary" test -s work/plain/summary.json
expect "without gnuplot: no figure" test -z "$(ls work/plain | grep svg)"

# A job that only devices of several nodes together could hold.
printf 'id,submit,duration,gpus,cpu\n0,0,5,4,8\n1,0,5,1,0\n' > work/stuck.csv
refused "a job that one node has the GPUs but not the CPU for" "stuck.csv: job 0: field 'cpu, memory_mib': 8000 milli-CPU" \
  simulate --trace stuck.csv --cluster 2x4:4c --policy fcfs
accepted "left out" simulate --trace stuck.csv --cluster 2x4:4c --policy fcfs --drop-too-large --json
expect "left out: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "left out: one" "$(value .trace.left_out)" 1
is "left out: the other runs" "$(value '.policies[0].finished')" 1
accepted "spread over nodes" simulate --trace stuck.csv --cluster 2x4:4c --placement any --policy fcfs,tetris --json
expect "spread: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "spread: both run" "$(value '.policies[0].finished')" 2
# Tetris places in its own way, on one node: the run ends and says so.
is "stuck: said" "$(value '.policies[1].stalled')" true
is "stuck: counted" "$(value '.policies[1].unfinished')" 1

# The load is that of the jobs that are replayed.
printf 'id,submit,duration,gpus\n0,0,50,1\n1,50,50,1\n2,75,9999,64\n3,100,50,1\n' > work/large.csv
accepted "load without what is left out" simulate --trace large.csv --cluster 1x2 --policy fcfs --drop-too-large --load 0.5 --json
expect "load: JSON" awk -f "$here/json.awk" seen/out > seen/flat
is "load: left out" "$(value .trace.left_out)" 1
is "load: of the others" "$(value .trace.load)" 0.5

# Errors.
bad() { # bad NAME PATTERN ARGUMENT...: with a sound trace and cluster
  name=$1
  pattern=$2
  shift 2
  refused "$name" "^mara-lab simulate: .*$pattern" simulate --trace small.csv --cluster 1x2 "$@"
}
refused "no trace" "--trace: a trace file is needed" simulate --cluster 8x8
refused "no cluster" "--cluster: a cluster is needed" simulate --trace small.csv
refused "missing trace" "--trace: nowhere.csv: no such file" simulate --trace nowhere.csv --cluster 8x8
refused "missing nodes" "--cluster: nodes.csv: no such file" simulate --trace small.csv --cluster @nodes.csv
refused "not a node list" "--cluster: small.csv:1: field 'id'" simulate --trace small.csv --cluster @small.csv
refused "bad cluster" "--cluster: platform '8y8': '8y8' is not NODESxDEVICES" simulate --trace small.csv --cluster 8y8
refused "bad host" "--cluster: platform '8x8:many': host resources" simulate --trace small.csv --cluster 8x8:many
bad "bad format" "--format: .*got 'xls'" --format xls
bad "wrong format" "small.csv" --format muri
bad "no policy" "--policy: a policy is needed" --policy ""
bad "policy twice" "--policy: 'sjf' would run twice" --policy sjf,sjf
bad "strict twice" "--policy: 'fcfs-easy' would run twice" --policy fcfs,fcfs-strict --backfill easy
bad "bad backfill" "--backfill: .*got 'some'" --backfill some
bad "backfill and preemption" "--backfill: policy 'srtf' cannot backfill and preempt" --policy srtf --backfill easy --preempt keep
bad "strict and preemption" "--preempt: policy 'fcfs-strict'" --policy fcfs-strict --preempt keep
bad "las backfills" "--backfill: policy 'las' has no queue" --policy las --backfill easy
bad "las in another way" "--preempt: policy 'las' preempts in its own way" --policy las --preempt keep
bad "bad preempt" "--preempt: .*got 'often'" --preempt often
for value in some fixed: fixed:1 fixed:1,2 fixed:1,2,x fixed:1,2,-3 fixed:1,2,3,4 fixed:1,2,nan; do
  bad "overhead $value" "--overhead: must be none, muri or fixed:START,RESUME,MIGRATE .*got '$value'" --overhead $value
done
refused "muri without models" "--overhead: muri needs the model of every job, and job 0 has none" \
  simulate --trace s10.csv --cluster 10x1 --overhead muri
sed 's/dqn/alexnet/' work/small.csv > work/other.csv
refused "muri with other models" "--overhead: .*model 'alexnet' is not one of vgg16" \
  simulate --trace other.csv --cluster 2x1 --overhead muri
for value in 100 0,100 100,0 100,-1 100,x 1,2,3 nan,1 1e13,1 ,; do
  bad "failures $value" "--failures: must be MTBF,MTTR .*got '$value'" --failures=$value
done
for value in 0 -1 nan often 1,2 inf; do
  bad "checkpoint $value" "--checkpoint: must be seconds above 0, or never, got '$value'" --failures 100,1 --checkpoint=$value
done
bad "checkpoint alone" "--checkpoint: means nothing without --failures, got '60'" --checkpoint 60
for value in 100 100,0 -1,5 1,x 1,2,3,4,5 nan,1; do
  bad "maintenance $value" "--maintenance: must be FIRST,LENGTH.*got '$value'" --maintenance=$value
done
bad "maintenance too often" "--maintenance: EVERY must be 0 .*got '0,100,50'" --maintenance 0,100,50
for value in near=1 node node=0 node=1.1 node=-1 node=x rack=nan domains=0 domains=1.5 domains=65 node=1/2; do
  bad "topology $value" "--topology: must be numa=X, .*got '$value'" --topology=$value
done
bad "topology twice" "--topology: says 'node' twice, got 'node=0.5,node=0.6'" --topology node=0.5,node=0.6
bad "topology without domains" "--topology: numa means nothing without domains=N.*got 'numa=0.5'" --topology numa=0.5
for value in "''" much sharing: sharing:1 sharing:0,1 sharing:1,-1 sharing:1,x sharing:1,2,3 measured:1; do
  bad "interference $value" "--interference: must be none, sharing, .*got '" --interference=$value
done
bad "bandwidth without a table" "--interference: bandwidth needs .*--bandwidth, got 'bandwidth:bert=1'" --interference bandwidth:bert=1
for value in bert bert=x bert=-1 bert=1/ bert=1/2/3 =1; do
  bad "need $value" "--interference: must be bandwidth:MODEL=.*got '$value'" --interference=bandwidth:$value --bandwidth pcie=32
done
bad "no need" "--interference: must be bandwidth:MODEL=.*got 'bandwidth:'" --interference bandwidth: --bandwidth pcie=32
bad "unknown model" "--interference: no job of the trace has this model, got 'gpt=1'" --interference bandwidth:gpt=1 --bandwidth pcie=32
for value in x pcie=0 gpu=-1 gpu=nan gpu=; do
  bad "bandwidth $value" "--bandwidth: must be TYPE=X .*got '$value'" --interference bandwidth:bert=1 --bandwidth=$value
done
bad "bandwidth of no type" "--bandwidth: the cluster has no such type, got 't4=300'" --interference bandwidth:bert=1 --bandwidth t4=300
bad "bandwidth alone" "--bandwidth: means nothing without --interference bandwidth:..., got 'gpu=900'" --bandwidth gpu=900
bad "measured without a table" "--interference: measured needs a table of pairs, --throughputs, got 'measured'" --interference measured
bad "measured on other types" "--interference: .*'gpu' is not in the table" --interference measured --throughputs pairs.json
for value in -1 1000000001; do bad "decision time $value" "--decision-time: must be from 0 to 1e9, got $value" --decision-time=$value; done
bad "decision time nan" "--decision-time: .*got 'nan'" --decision-time nan
for value in x v100=1 gpu=0 gpu=-1 gpu=fast gpu=nan; do
  bad "speed $value" "--speed: .*got '$value'" --speed $value
done
for value in 0 0.9 nan 1001; do bad "elastic $value" "--elastic: .*got '?$value" --elastic=$value; done
for value in 0 1.5 nan; do bad "speed-up $value" "--speed-up: .*got '?$value" --speed-up=$value; done
for value in 0 -1 101; do bad "load $value" "--load: must be above 0 and at most 100, got $value" --load=$value; done
bad "load nan" "--load: .*got 'nan'" --load nan
refused "load of one time" "--load: all jobs are submitted at the same time, got 0.5" \
  simulate --trace s10.csv --cluster 10x1 --load 0.5
bad "limit" "--limit: must be at least 0, got -1" --limit=-1
bad "seed" "--seed: .*got 4294967295" --seed 4294967295
bad "threads" "--threads: .*got -1" --threads=-1
bad "intervals without a folder" "--intervals: needs a folder" --intervals
refused "too large" "small.csv: job 3: field 'gpus': 2 GPUs are more .*--drop-too-large" \
  simulate --trace small.csv --cluster 1x1
echo "mine" > work/file
bad "out is a file" "--out: file: exists and is not a folder" --out file
bad "out below a file" "--out: file/below: file is not a folder" --out file/below
mkdir work/taken
echo "mine" > work/taken/jobs.csv
bad "out holds something else" "--out: taken/jobs.csv: exists and holds something else" --out taken
bad "unknown option" "--colour" --colour red

# --help explains every option.
accepted "simulate --help" simulate --help
expect "--help: at most 100 columns" awk 'length($0) > 100 { exit 1 }' seen/out
for option in --trace --format --throughputs --run-time --cluster --policy --placement --backfill --preempt --overhead --decision-time \
  --failures --checkpoint --maintenance --topology --interference --bandwidth \
  --speed --elastic --speed-up --load --limit --drop-too-large --seed --threads --intervals --out --json; do
  expect "--help names $option" grep -Eq "^ +$option( |\$)" seen/out
done
for policy in $(echo "$policies" | tr , ' ') $placements; do
  expect "--help names $policy" sh -c 'tr "\n" " " < seen/out | grep -Eq "[ :]$1([, .]|\$)"' sh "$policy"
done
finish
