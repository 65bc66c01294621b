#!/bin/sh
# Checks a store in N shards with GNU parallel, and merges them:
#
#     parallel.sh N PATH..
#
# CLEW_FLAGS has flags for clew check. PARALLEL has those of parallel, such as
# "--sshlogin a,b,c --workdir ." for machines that see the same folder: one clew uses
# all processors, so on one machine there is nothing to gain. The shards are left in
# shards/. Started again, it checks only those that are not whole.
set -eu

if [ -z "${SHARD-}" ]; then
  mkdir -p shards
  seq "$1" | parallel --quote --retries 3 env CLEW_FLAGS="${CLEW_FLAGS-}" SHARD={} sh "$0" "$@" || true # clew merge says what is missing
  exec clew merge shards/*.jsonl
fi

# One shard. A violation is an answer, and not a reason to start again: a shard is done
# if its last line is a trailer.
n=$1
shift
whole() { tail -n 1 "shards/$SHARD.jsonl" 2> /dev/null | grep -q '^{"trailer":'; }
whole || clew check ${CLEW_FLAGS-} --shard "$SHARD/$n" "$@" > "shards/$SHARD.jsonl" || true
whole
