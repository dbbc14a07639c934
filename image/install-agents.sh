#!/bin/sh
# Installs agent programs from npm below a prefix: install-agents.sh PREFIX [PACKAGE@VERSION ...]
# Used inside the Dockerfile and, for the image made from Debian packages, from outside on its root directory.
set -eu

prefix=$1
shift
[ "$#" -gt 0 ] || exit 0

# No install scripts: these run as root, and nothing that they do is needed.
npm install --global --prefix "$prefix" --ignore-scripts --no-audit --no-fund --no-progress \
  --no-update-notifier --loglevel=error "$@"

# Claude Code's own install script puts its program in place; without it the platform package is linked instead.
modules=lib/node_modules/@anthropic-ai
for program in "$prefix/$modules"/claude-code/node_modules/@anthropic-ai/claude-code-linux-*/claude \
  "$prefix/$modules"/claude-code-linux-*/claude; do
  case $program in *-musl/claude) continue ;; esac
  [ -f "$program" ] || continue
  ln -sf "../${program#"$prefix"/}" "$prefix/bin/claude"
done
