# Options without sense: each is refused in one line that names option and value, and nothing is written.
. "$(dirname "$0")/lab.sh"

write_trace 80 > work/good.csv
write_earlier_report work/mara-report

bad() { # bad OPTION VALUE PATTERN: for the commands that have the option
  for command in compare tune; do
    refused "$command $1 '$2'" "^mara-lab $command: .*$1: .*$3" $command --trace good.csv "$1=$2"
  done
}
bad --cluster a100 "cluster 'a100': expected name:NODESxGPUS"
bad --cluster a100:2 "'2' is not NODESxGPUS"
bad --cluster a100:0x8,v100:2x8,t4:2x8 "'a100:0x8': a count is zero"
bad --cluster a100:-2x8,v100:2x8,t4:2x8 "'-2x8' is not NODESxGPUS"
bad --cluster a100:2.5x8,v100:2x8,t4:2x8 "'2.5x8' is not"
bad --cluster a100:2x8,v100:2x8,t4:2x8, "''"
bad --cluster a100:2x8,v100:2x8,v100:2x8 "v100.*twice"
bad --cluster a100:9999999x9999999,v100:2x8,t4:2x8 "more than 1000000 GPUs"
bad --cluster a100:99999999999999999999x8,v100:2x8,t4:2x8 "is not NODESxGPUS"
bad --cluster warp9:2x8,v100:2x8,t4:2x8 "unknown type 'warp9' needs its device memory"
bad --cluster warp9@24G:2x8,v100:2x8,t4:2x8 "'warp9' has no known speed"
bad --cluster a100@lots:2x8,v100:2x8,t4:2x8 "device memory 'lots'"
bad --cluster a100:2x8,v100:2x8 "2 GPU types"
bad --cluster h100:2x8,a100:2x8,v100:2x8,t4:2x8 "4 GPU types"
bad --format xls "muri.*got 'xls'"
refused "trace --format xls" "^mara-lab trace: .*--format: .*got 'xls'" trace good.csv --format xls
bad --load 0 "got 0"
bad --load -0.5 "got -0.5"
bad --load nan "got 'nan'"
bad --load inf "got 'inf'"
bad --load 11 "got 11"
bad --load heavy "heavy"
bad --load 1e-9 "1e-0?9"
bad --seed -1 "-1"
bad --seed one "one"
bad --seed 18446744073709551616 "18446744073709551616"
bad --seed 4294967295 "4294967295"
bad --threads -1 "got -1"
bad --threads 100000 "got 100000"
bad --threads two "two"
bad --out "" ""
for value in 0 -5 1000000001; do
  refused "--steps $value" "--steps: .*got $value" compare --trace good.csv --steps=$value
done
for value in many 1.5 1e6 99999999999999999999; do
  refused "--steps $value" "--steps.*$value" compare --trace good.csv --steps=$value
done
for value in 0 -1 1001; do
  refused "--seeds $value" "--seeds: .*got $value" compare --trace good.csv --seeds=$value
done
refused "--iterations 0" "--iterations: .*got 0" tune --trace good.csv --iterations 0
refused "--population 3" "--population: .*got 3" tune --trace good.csv --population 3

# simulate: nodes that fail, distance, neighbours, decisions that take time.
sim() { # sim OPTION VALUE PATTERN
  refused "simulate $1 '$2'" "^mara-lab simulate: .*$1: .*$3" simulate --trace good.csv --cluster 8x8 "$1=$2"
}
sim --failures day,hour "MTBF,MTTR .*got 'day,hour'"
sim --failures 86400 "got '86400'"
sim --failures -1,5 "got '-1,5'"
sim --checkpoint 600 "means nothing without --failures, got '600'"
sim --maintenance 0,0 "LENGTH above 0.*got '0,0'"
sim --topology node=2 "at most 1.*got 'node=2'"
sim --interference loud "must be none, sharing, .*got 'loud'"
sim --interference measured "needs a table of pairs, --throughputs, got 'measured'"
sim --bandwidth gpu=900 "without --interference.*got 'gpu=900'"
sim --decision-time -1 "must be from 0 to 1e9, got -1"
sim --decision-time soon "got 'soon'"

refused "--trace with --model" "--model: cannot be combined with --trace, got 'm.json'" \
  compare --trace good.csv --model m.json
refused "unknown option" "^mara-lab compare: .*--colour" compare --trace good.csv --colour red
refused "unknown option of trace" "^mara-lab trace: .*--steps" trace good.csv --steps 5
refused "--flow-steps 0" "--flow-steps: .*got 0" compare --trace good.csv --flow-steps=0
refused "option of another command" "^mara-lab compare: .*--population" compare --population 8
refused "plain argument" "^mara-lab compare: .*extra" compare extra
refused "value missing" "^mara-lab compare: .*--trace" compare --trace
refused "option twice" "^mara-lab compare: .*--seed" compare --seed 1 --seed 2
refused "value of a flag" "^mara-lab compare: .*--json.*maybe" compare --json=maybe
refused "unknown command" "^mara-lab: unknown command 'compete'" compete
refused "no command" "^mara-lab: .*ubcommand"
refused "option before the command" "^mara-lab.*--seed" --seed 1 compare
refused "two commands" "^mara-lab" compare tune
refused "trace without a file" "^mara-lab trace: .*file" trace
finish
