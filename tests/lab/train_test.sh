# train, evaluate and games: what they learn, write, resume and refuse.
. "$(dirname "$0")/lab.sh"

# A training: its files, its table, and the same bits whatever the number of threads.
accepted "train" train --env two-step --learner qmix --hidden 64 --steps 6000 --seeds 2 --evaluate-every 2000 --episodes 4 --out run --threads 2
expect "train: the table names the return" grep -q "team, unshaped" seen/out
for seed in 1 2; do
  for file in run.json metrics.jsonl metrics.csv checkpoint.mara best.mara; do
    expect "train: run/seed-$seed/$file" test -s "work/run/seed-$seed/$file"
  done
done
accepted "train again" train --env two-step --learner qmix --hidden 64 --steps 6000 --seeds 2 --evaluate-every 2000 --episodes 4 --out again --threads 1
for file in metrics.jsonl checkpoint.mara best.mara; do
  expect "train: $file is the same for one thread" cmp -s "work/run/seed-2/$file" "work/again/seed-2/$file"
done
expect "train: every line says which return it shows" sh -c '! grep -v "\"return\":\"team, unshaped" work/run/seed-1/metrics.jsonl'

# A longer training resumed from a shorter one is the longer one.
for learner in mappo iql maddpg; do
  accepted "$learner, whole" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --episodes 2 --out whole
  accepted "$learner, first half" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --episodes 2 --stop-at -1000 --out half
  accepted "$learner, second half" train --env allocation --learner $learner --steps 4000 --evaluate-every 1000 --episodes 2 --out half --resume
  for file in metrics.jsonl metrics.csv checkpoint.mara best.mara; do
    expect "$learner: $file of the resumed training" cmp -s "work/whole/seed-1/$file" "work/half/seed-1/$file"
  done
done

# What was learnt is played.
accepted "evaluate" evaluate run/seed-1 --episodes 20 --json
expect "evaluate: JSON with the mean return" grep -q '"mean_return": [78]' seen/out
accepted "a recurrent team" train --env cue --learner ippo --recurrence gru --memory 16 --hidden 16 --steps 3000 --out cue --json
expect "train: JSON" grep -q '"mean_best_return"' seen/out
accepted "numbers" train --env quadratic --learner mappo --separate --steps 3000 --out numbers
accepted "one agent for all" train --env two-step --learner dqn --steps 1000 --out joint
accepted "evaluate it" evaluate joint/seed-1 --episodes 3
for critic in independent centralised pooled attention; do
  accepted "critic $critic" train --env allocation --learner mappo --critic $critic --steps 1500 --out critic
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
refused "nothing to resume" "mara-lab train: --out: nowhere/seed-1: there is no checkpoint" train --out nowhere --resume
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
