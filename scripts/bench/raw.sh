#!/usr/bin/env bash
# Usage: raw.sh REPOSITORY WORK OWNER MODULES DU ENGINE ARGUMENTS...
#
# One iteration by hand, without a guard: a worktree, a clone, a container that makes one commit, and the way back.
# Prints `stage NAME MICROSECONDS` for each command. The engine's arguments come last, with @SNAPSHOT@ and @OUT@ for the
# two directories that the container gets.
#   OWNER    uid:gid that the clone is given to, or - where it is the caller's already
#   MODULES  a directory of ignored files that the container gets to see, or -
#   DU       du: prints `disk KIB` before the container starts
set -euo pipefail

repository=$1 work=$2 owner=$3 modules=$4 du=$5
shift 5
export GIT_TERMINAL_PROMPT=0
mkdir -p "$work/out"

timed() {
  local name=$1 from=$EPOCHREALTIME to
  shift
  "$@" >&2
  to=$EPOCHREALTIME
  echo "stage $name $((${to/[.,]/} - ${from/[.,]/}))"
}

arguments=("${@//@SNAPSHOT@/$work/snapshot}")
arguments=("${arguments[@]//@OUT@/$work/out}")
timed worktree-add git -C "$repository" worktree add --quiet --detach "$work/worktree"
timed clone git clone --quiet "$repository" "$work/snapshot"
[[ $modules == - ]] || timed copy cp -a "$modules" "$work/snapshot/"
[[ $owner == - ]] || timed chown chown -R "$owner" "$work/snapshot" "$work/out"
[[ $du != du ]] || echo "disk $(du -sk "$work" | cut -f1)"
timed run "${arguments[@]}"
timed am git -C "$work/worktree" am --quiet "$work"/out/*.patch
timed worktree-remove git -C "$repository" worktree remove --force "$work/worktree"
timed rm rm -rf "$work"
