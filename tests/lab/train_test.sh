# train, evaluate and games: what they learn, write, resume and refuse.
. "$(dirname "$0")/lab.sh"

# A training: its files, its table, and the same bits whatever the number of threads.
accepted "train" train --env two-step --learner qmix --hidden 64 --steps 6000 --seeds 2 --evaluate-every 2000 --episodes 4 --out run --threads 2
expect "train: the summary says what it is" grep -Eq "^largest evaluation of each seed, mean over seeds: .*±.* \(team, unshaped" seen/out
for seed in 1 2; do
  for file in run.json metrics.jsonl metrics.csv checkpoint.mara best.mara; do
    expect "train: run/seed-$seed/$file" test -s "work/run/seed-$seed/$file"
  done
done
accepted "train again" train --env two-step --learner qmix --hidden 64 --steps 6000 --seeds 2 --evaluate-every 2000 --episodes 4 --out again --threads 1
for file in metrics.jsonl checkpoint.mara best.mara; do
  expect "train: $file is the same for one thread" cmp -s "work/run/seed-2/$file" "work/again/seed-2/$file"
done
expect "train: every line says which return it shows" sh -c '! grep -v "\"return_convention\":\"team, unshaped" work/run/seed-1/metrics.jsonl'

expect "train: at most a line of rounds for a thousandth of --steps" test "$(grep -c '"event":"round"' work/run/seed-1/metrics.jsonl)" -le 1003
expect "train: evaluations say how long episodes are" grep -q '"event":"evaluation".*"evaluation_steps":2,"evaluation_episodes":4,"evaluation_return_agent_0":' work/run/seed-1/metrics.jsonl
accepted "a line for every round" train --env two-step --learner vdn --steps 100 --log-every 0 --out lines
expect "--log-every 0" test "$(grep -c '"event":"round"' work/lines/seed-1/metrics.jsonl)" -eq 100
accepted "a line for 50 steps" train --env two-step --learner vdn --steps 100 --log-every 50 --out lines --overwrite --json
expect "--log-every 50" test "$(grep -c '"event":"round"' work/lines/seed-1/metrics.jsonl)" -eq 2
expect "one seed has no interval" grep -q '"half_width_95": null' seen/out

# What ran is written down: the version, each seed's own seed, every hyper-parameter.
expect "run.json: version" grep -Eq '^ "version": "[0-9]+\.[0-9]+\.[0-9]+"' work/run/run.json
for seed in 1 2; do
  expect "run.json of seed $seed" grep -q "^ \"seed\": $seed," "work/run/seed-$seed/run.json"
done
for line in '"environments": 1' '"batch": 32' '"replay_pieces": 5000' '"gamma": 0.99' '"learning_rate": 0.0005' '"anneal_steps": 3000' '"target_period": 200'; do
  expect "run.json: $line" sh -c 'sed -n "/\"configuration\"/,\$p" work/run/seed-2/run.json | grep -q "$1"' sh "$line"
done
expect "run.json: schedules" grep -q '^ "schedule_steps": 6000' work/run/seed-1/run.json

# recorded NAME VALUE: a hyper-parameter in the run.json of the folder `tuned`.
recorded() {
  expect "$1 = $2 in run.json" sh -c 'sed -n "/\"configuration\"/,\$p" work/tuned/seed-1/run.json | grep -q "\"$1\": $2\(,\|\$\)"' sh "$1" "$2"
}
accepted "options of Q-learning" train --env allocation --learner qmix --steps 300 --batch 8 --replay 70 --updates 2 --collect-steps 3 --sequence-steps 4 --n-step 3 --epsilon-end 0.1 --epsilon-steps 123 --dueling --tau 0.02 --reward-scale 0.5 --out tuned
for pair in batch:8 replay_pieces:70 updates:2 collect_steps:3 sequence_steps:4 n_step:3 finish:0.1 anneal_steps:123 dueling:true target_tau:0.02 reward_scale:0.5; do
  recorded "${pair%:*}" "${pair#*:}"
done
accepted "evaluate it" evaluate tuned/seed-1 --episodes 1
expect "evaluate: one episode has no interval" sh -c '! grep -q ± seen/out'
accepted "TD(lambda)" train --env allocation --learner vdn --steps 300 --lambda 0.8 --target-period 50 --out tuned --overwrite
for pair in lambda:0.8 sequence_steps:10 target_period:50; do recorded "${pair%:*}" "${pair#*:}"; done
accepted "options of PPO" train --env allocation --learner mappo --steps 300 --environments 2 --recurrence gru --memory 8 --hidden 8 --collect-steps 36 --batch 24 --lambda 0.9 --entropy 0.05 --epochs 3 --clip 0.3 --out tuned --overwrite
for pair in rollout_steps:36 sequence_steps:12 minibatch_steps:24 lambda:0.9 entropy_initial:0.05 entropy_final:0.05 epochs:3 clip:0.3 environments:2 critic_kind:'"centralised"'; do
  recorded "${pair%:*}" "${pair#*:}"
done
accepted "options of MADDPG" train --env quadratic --learner maddpg --steps 300 --batch 16 --replay 200 --updates 2 --collect-steps 10 --tau 0.05 --out tuned --overwrite
for pair in batch:16 replay:200 round_updates:2 round_steps:10 tau:0.05 gamma:0.95 learning_rate:0.01; do
  recorded "${pair%:*}" "${pair#*:}"
done
refused "an option of PPO for QMIX" "^mara-lab train: --epochs: the learner qmix has no such option; ppo, ippo, mappo have" train --learner qmix --epochs 3
refused "an option of Q-learning for MAPPO" "^mara-lab train: --epsilon-end: the learner mappo " train --epsilon-end 0.1
refused "a replay for PPO" "^mara-lab train: --replay: the learner ppo .* dqn, .*maddpg have" train --learner ppo --replay 10
refused "dueling actors" "^mara-lab train: --dueling: the learner maddpg " train --env quadratic --learner maddpg --dueling
refused "sequences of nothing" "^mara-lab train: --sequence-steps: the learner mappo needs --recurrence" train --sequence-steps 8
refused "two ways of following" "^mara-lab train: --target-period: cannot be combined with --tau" train --learner vdn --tau 0.1 --target-period 5
refused "no batch" "^mara-lab train: --batch: must be from 1 .* got 0" train --batch 0
accepted "a round longer than the training" train --env two-step --environments 20 --steps 300 --out long
expect "it is warned of" grep -q "^mara-lab train: warning: one round takes 2560 environment steps, more than --steps 300" seen/err

# A longer training resumed from a shorter one is the longer one.
for learner in mappo iql maddpg; do
  accepted "$learner, whole" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --log-every 70 --episodes 2 --out whole --overwrite
  accepted "$learner, first half" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --log-every 70 --episodes 2 --stop-at -1000 --out half --overwrite
  accepted "$learner, second half" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --log-every 70 --episodes 2 --out half --resume
  for file in metrics.jsonl metrics.csv checkpoint.mara best.mara; do
    expect "$learner: $file of the resumed training" cmp -s "work/whole/seed-1/$file" "work/half/seed-1/$file"
  done
  snapshot work/half > seen/finished
  accepted "$learner, finished" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --log-every 70 --episodes 2 --out half --resume
  snapshot work/half > seen/resumed
  expect "$learner: a finished training stays as it is" cmp -s seen/finished seen/resumed
done
# The schedules of a longer training stay those of the first run.
accepted "more steps" train --env allocation --learner iql --steps 5000 --evaluate-every 1000 --log-every 70 --episodes 2 --out half --overwrite
accepted "still more steps" train --env allocation --learner iql --steps 9000 --evaluate-every 1000 --log-every 70 --episodes 2 --out half --resume
expect "schedules of the first run" grep -q '^ "schedule_steps": 5000' work/half/seed-1/run.json
expect "steps of the second run" grep -q '^ "steps": 9000' work/half/seed-1/run.json
expect "epsilon stays as it was" sh -c 'test "$(sed -n "s/.*\"env_steps\":\(30..\|80..\),.*\"epsilon\":\([0-9.]*\).*/\2/p" work/half/seed-1/metrics.jsonl | sort -u)" = 0.05'

# Seeds that were killed before their first checkpoint begin, the others go on; more seeds may join.
accepted "three seeds" train --env two-step --learner vdn --steps 600 --seeds 3 --evaluate-every 200 --out three
cp -r work/three work/killed
rm work/killed/seed-2/checkpoint.mara
rm -r work/killed/seed-3
accepted "killed in seed 2" train --env two-step --learner vdn --steps 600 --seeds 3 --evaluate-every 200 --out killed --resume
expect "seed 2 is said to begin anew" grep -q "^mara-lab train: seed 2 has no checkpoint and begins anew$" seen/err
expect "seed 3 is said to begin" grep -q "^mara-lab train: seed 3 has no checkpoint and begins$" seen/err
expect "seed 1 goes on" sh -c '! grep -q "seed 1 has" seen/err'
(cd work/three && find . -type f | sort) > seen/files
while read -r file; do expect "$file as if nothing had happened" cmp -s "work/three/$file" "work/killed/$file"; done < seen/files
accepted "a fourth seed" train --env two-step --learner vdn --steps 600 --seeds 4 --evaluate-every 200 --out killed --resume
expect "seed 4" test -s work/killed/seed-4/best.mara
expect "seed 1 stays" cmp -s work/three/seed-1/checkpoint.mara work/killed/seed-1/checkpoint.mara
refused "fewer seeds" "^mara-lab train: --resume: 'seeds' is 1, the run began with 4" train --env two-step --learner vdn --steps 600 --evaluate-every 200 --out killed --resume
refused "other seeds" "^mara-lab train: --resume: 'seed' is 2, the run began with 1" train --env two-step --learner vdn --steps 600 --seed 2 --seeds 9 --evaluate-every 200 --out killed --resume
refused "no seed at all" "^mara-lab evaluate: killed: holds a training; name the folder of a seed, such as killed/seed-1" evaluate killed

# An earlier training is neither mixed with another nor replaced unasked.
refused "an earlier training" "^mara-lab train: --out: killed: holds a training; .*--resume.*--overwrite.*--out" train --out killed
refused "an earlier training of other seeds" "^mara-lab train: --out: killed: holds a training" train --seed 100 --out killed
mkdir work/remains
mv work/lines/seed-1 work/remains/seed-7
refused "what is left of one" "^mara-lab train: --out: remains: holds a training" train --out remains
echo mine > work/killed/note.txt
accepted "--overwrite" train --env two-step --learner iql --steps 300 --seed 2 --out killed --overwrite
expect "the old seeds are gone" test "$(cd work/killed && echo *)" = "note.txt run.json seed-2"
echo precious > work/killed/seed-2/file
refused "--overwrite of somebody's file" "^mara-lab train: --overwrite: killed/seed-2/file: mara-lab did not write this" train --out killed --seed 5 --overwrite
rm work/killed/seed-2/file
mv work/killed/seed-2 work/elsewhere
ln -s ../elsewhere work/killed/seed-2
refused "--overwrite through a link" "^mara-lab train: --overwrite: killed/seed-2: mara-lab did not write this" train --out killed --seed 5 --overwrite
refused "--overwrite and --resume" "^mara-lab train: --overwrite: cannot be combined with --resume" train --out killed --overwrite --resume
mkdir work/report
echo '{"format": "mara-report"}' > work/report/run.json
refused "another's run.json" "^mara-lab train: --out: report/run.json: exists and holds something else" train --out report --overwrite

# What was learnt is played.
accepted "evaluate" evaluate run/seed-1 --episodes 20 --json
expect "evaluate: JSON with the mean return" grep -q '"mean_return": [78]' seen/out
accepted "a recurrent team" train --env cue --learner ippo --recurrence gru --memory 16 --hidden 16 --steps 3000 --out cue --json
expect "train: JSON" grep -q '"mean_best_return"' seen/out
accepted "numbers" train --env quadratic --learner mappo --separate --steps 3000 --out numbers
accepted "one agent for all" train --env two-step --learner dqn --steps 1000 --out joint
accepted "evaluate it" evaluate joint/seed-1 --episodes 3
for critic in independent centralised pooled attention; do
  accepted "critic $critic" train --env allocation --learner mappo --critic $critic --steps 1500 --out critic --overwrite
done

# The table of proofs, in part.
accepted "games" games --env two-step,quadratic --seeds 1
expect "games: QMIX finds 8" grep -Eq "^two-step +qmix +return +8 +8.0000 to 8.0000 .* 1 of 1$" seen/out
expect "games: VDN stops at 7" grep -Eq "^two-step +vdn +return +7 +7.0000 to 7.0000 .* 1 of 1$" seen/out

# What makes no sense is refused in one line and changes nothing.
refused "unknown game" "^mara-lab train: --env: game: .tic-tac-toe. is unknown; there are two-step" train --env tic-tac-toe
refused "unknown learner" "mara-lab train: .*--learner.*got 'sarsa'" train --learner sarsa
refused "numbers for a value learner" "mara-lab train: " train --env quadratic --learner qmix
refused "too many joint options" "mara-lab train: --learner: joint game: more than 32" train --env congestion --learner dqn
refused "a critic of a value learner" "mara-lab train: .*--critic" train --learner qmix --critic pooled
refused "no steps" "mara-lab train: --steps: must be from 1 .* got 0" train --steps 0
refused "no width" "mara-lab train: --hidden: must be from 1 .* got 0" train --hidden 0
refused "discount" "mara-lab train: --gamma: must be from 0 to 1, got 1.5" train --gamma 1.5
refused "learning rate" "mara-lab train: --learning-rate: .* got -1" train --learning-rate -1
refused "nothing to resume" "mara-lab train: --out: nowhere: there is no training to resume" train --out nowhere --resume
refused "another run" "mara-lab train: --resume: 'learner' is .*the run began with .*qmix" train --env two-step --learner vdn --hidden 64 --steps 6000 --seeds 2 --evaluate-every 2000 --episodes 4 --out run --resume
mkdir -p work/mine/seed-1
echo precious > work/mine/seed-1/file
refused "somebody's folder" "mara-lab train: --out: mine/seed-1: exists and holds something else" train --out mine
refused "no training" "mara-lab evaluate: .*run.json: no such file" evaluate nowhere
head -c 300 work/run/seed-1/best.mara > work/cut.mara
cp work/cut.mara work/joint/seed-1/best.mara
refused "damaged weights" "mara-lab evaluate: .*best.mara: .*(checksum|exceeds|damaged)" evaluate joint/seed-1
refused "unknown case" "mara-lab games: --env: 'go' has no case; there are two-step" games --env go
finish
