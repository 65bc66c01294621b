#!/bin/sh
#SBATCH --job-name=clew
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --output=shards/%a.log
#SBATCH --requeue
#
# Checks a store in 16 shards, one for each task of the array, and merges them in a
# second job:
#
#     mkdir -p shards
#     job=$(sbatch --parsable slurm.sh store/)
#     sbatch --dependency=afterany:$job --output=merged.txt --wrap 'clew merge shards/*.jsonl'
#
# One task, if clew merge misses it, is sbatch --array=7 slurm.sh store/, which is why
# the number of shards stands here and not in the environment.
set -u
clew check --shard auto/16 --memory-limit 3GB ${CLEW_FLAGS-} "$@" > "shards/$SLURM_ARRAY_TASK_ID.jsonl"

# A violation is an answer: the task has failed if its shard has no trailer.
tail -n 1 "shards/$SLURM_ARRAY_TASK_ID.jsonl" | grep -q '^{"trailer":'
