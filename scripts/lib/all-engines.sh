# shellcheck shell=bash
# Brings what the tests of every engine need: Podman with the agent image, gVisor as a runtime of Docker, and a file system
# that clones files. What cannot be brought is said, and the tests say it again; see test/contract/engines.test.ts. Needs
# say.sh, engine.sh and $root.

dockerd_pid=/var/run/docker.pid

prepare_all_engines() {
  if is_root && is_debian_family; then
    install_engines
    add_gvisor
    copy_image_to_podman
  fi
  answers_podman || say "NOT PREPARED: Podman does not answer, so the contract on it cannot be tested."
  has_gvisor || say "NOT PREPARED: Docker has no runtime runsc with --host-uds=open, so the contract on gVisor cannot be tested."
}

answers_podman() { command -v podman >/dev/null && podman info >/dev/null 2>&1; }
has_gvisor() { docker info --format '{{json .Runtimes}}' 2>/dev/null | grep -q '"runsc".*"--host-uds=open"'; }
is_installed() { dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

install_engines() {
  local package missing=()
  # Podman alone recommends most of what it needs to start a container.
  for package in podman catatonit conmon netavark crun runc uidmap slirp4netns fuse-overlayfs runsc btrfs-progs; do
    is_installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "For the tests of every engine, these are not installed: ${missing[*]}"
  allowed "Install them now?" || return 0
  export DEBIAN_FRONTEND=noninteractive
  step "Reading the package lists" apt-get update
  for package in "${missing[@]}"; do
    # Another release may not have all of them.
    if apt-cache show "$package" >/dev/null 2>&1; then
      step "Installing $package" apt-get install --yes --no-install-recommends "$package"
    else
      say "NOT PREPARED: this system has no package $package."
    fi
  done
}

# gVisor's runtime in Docker's configuration, which dockerd reads again without touching what runs.
add_gvisor() {
  if has_gvisor || ! command -v runsc >/dev/null || [[ ! -s $dockerd_pid ]]; then return 0; fi
  say "Docker does not know gVisor's runtime, or not with --host-uds=open: adding it to /etc/docker/daemon.json."
  allowed "Add it now?" || return 0
  # shellcheck disable=SC2154
  step "Adding the runtime runsc" node "$root/scripts/add-gvisor.js" /etc/docker/daemon.json "$(command -v runsc)"
  kill -HUP "$(<"$dockerd_pid")"
  local waited
  for ((waited = 0; waited < 20; waited++)); do
    has_gvisor && return
    sleep 0.5
  done
}

# Each engine keeps its own images; copying Docker's is quicker than building it again.
copy_image_to_podman() {
  answers_podman || return 0
  local wanted there
  wanted=$(docker image inspect --format '{{.Id}}' guardloop-agent) || return 0
  there=$(podman image inspect --format '{{.Id}}' guardloop-agent 2>/dev/null || true)
  [[ ${wanted#sha256:} == "${there#sha256:}" ]] ||
    step "Copying the agent image to Podman" bash -o pipefail -c 'docker save guardloop-agent | podman load'
}
