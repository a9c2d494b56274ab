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
for option in --trace --format --throughputs --run-time --cluster --policy --placement --backfill --preempt --overhead \
  --speed --elastic --speed-up --load --limit --drop-too-large --seed --threads --intervals --out --json; do
  expect "--help names $option" grep -Eq "^ +$option( |\$)" seen/out
done
for policy in $(echo "$policies" | tr , ' ') $placements; do
  expect "--help names $policy" sh -c 'tr "\n" " " < seen/out | grep -Eq "[ :]$1([, .]|\$)"' sh "$policy"
done
finish
