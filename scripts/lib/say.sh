# shellcheck shell=bash
# How the scripts speak: one line a step, the noise in a log file that is shown only when something fails.

if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' reset=$'\e[0m'
else
  bold='' dim='' red='' reset=''
fi

say() { printf '%s\n' "$*" >&2; }
title() { printf '\n%s%s%s\n' "$bold" "$*" "$reset" >&2; }
note() { printf '%s%s%s\n' "$dim" "$*" "$reset" >&2; }

# die MESSAGE [WHAT-TO-DO]: ends the script.
die() {
  printf '%serror:%s %s\n' "$red" "$reset" "$1" >&2
  [[ $# -lt 2 ]] || printf '       %s\n' "$2" >&2
  exit 1
}

# open_log NAME: the log of this script; one file, passed on to the scripts it calls.
open_log() {
  [[ -n ${GUARDLOOP_LOG:-} ]] && return
  GUARDLOOP_LOG=$(mktemp "${TMPDIR:-/tmp}/guardloop-$1.XXXXXX.log")
  export GUARDLOOP_LOG
}

# step WHAT COMMAND…: runs quietly; on failure shows the end of the output and where the rest is.
step() {
  local what=$1 from started=$SECONDS
  shift
  say "- $what"
  printf '\n== %s: %s\n' "$what" "$*" >>"$GUARDLOOP_LOG"
  from=$(wc -l <"$GUARDLOOP_LOG")
  if "$@" >>"$GUARDLOOP_LOG" 2>&1 </dev/null; then
    ((SECONDS - started < 3)) || note "  $((SECONDS - started)) s"
    return 0
  fi
  # Some programs say the reason first and then much else, others say it last.
  tail -n "+$((from + 1))" "$GUARDLOOP_LOG" |
    awk '{ line[NR] = $0 } END { for (i = 1; i <= NR; i++) if (i <= 12 || i > NR - 30) print line[i]; else if (i == 13) print "[…]" }' >&2
  die "$what failed." "The whole output: $GUARDLOOP_LOG"
}

# usage FILE: prints the comment block at the head of a script, as its --help.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$1"; }
