#!/bin/sh
# Installs agent programs from npm below a root directory: install-agents.sh ROOT [PACKAGE@VERSION ...]
# Used inside the Dockerfile on `/`, and from outside on a directory that becomes a layer of an image. Inside or outside,
# what is installed is for Linux with the GNU C library.
set -eu

root=${1%/}
shift
[ "$#" -gt 0 ] || exit 0
prefix=$root/usr/local
mkdir -p "$prefix/bin" "$prefix/lib"

# No install scripts: these run as root, and nothing that they do is needed.
npm install --global --prefix "$prefix" --ignore-scripts --os=linux --libc=glibc --no-audit --no-fund --no-progress \
  --no-update-notifier --loglevel=error "$@"

modules=lib/node_modules

# link PROGRAM NAME: what an install script would have put in place is linked from the platform package instead.
link() { ln -sf "../${1#"$prefix"/}" "$prefix/bin/$2"; }

# Claude Code.
for program in "$prefix/$modules"/@anthropic-ai/claude-code/node_modules/@anthropic-ai/claude-code-linux-*/claude \
  "$prefix/$modules"/@anthropic-ai/claude-code-linux-*/claude; do
  case $program in *-musl/claude) continue ;; esac
  [ ! -f "$program" ] || link "$program" claude
done

# opencode: of two equal programs the one for every processor is kept, where there are two.
platform=$prefix/$modules/opencode-ai/node_modules
rm -rf "$platform"/opencode-linux-*-musl
[ ! -d "$platform/opencode-linux-x64-baseline" ] || rm -rf "$platform/opencode-linux-x64"
for program in "$platform"/opencode-linux-*/bin/opencode; do
  [ ! -f "$program" ] || link "$program" opencode
done

# Gemini CLI obeys a settings file before a project's own only where it belongs to root; see docs/agents.md.
if [ -d "$prefix/$modules/@google/gemini-cli" ]; then
  mkdir -p "$root/etc/gemini-cli"
  cp "$(dirname "$0")/gemini-settings.json" "$root/etc/gemini-cli/settings.json"
  chmod 755 "$root/etc/gemini-cli"
  chmod 644 "$root/etc/gemini-cli/settings.json"
fi
