# shellcheck shell=bash
# Finds a container engine, or as root installs and starts one, saying so first. Needs say.sh.

docker_answers() { command -v docker >/dev/null && docker version >/dev/null 2>&1; }
is_root() { [[ $(id -u) -eq 0 ]]; }
has_systemd() { [[ -d /run/systemd/system ]]; }

# Debian or Ubuntu, where we know the package's name.
is_debian_family() {
  command -v apt-get >/dev/null && grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release 2>/dev/null
}

# allowed QUESTION: on a terminal the person decides; without one the way that was announced is taken.
allowed() {
  [[ -t 0 && -t 2 ]] || return 0
  local answer
  read -r -p "  $1 [Y/n] " answer
  [[ -z $answer || $answer == [yY]* ]]
}

# Leaves a Docker that answers, or ends the script with what to do.
require_engine() {
  docker_answers && return
  [[ -z ${DOCKER_HOST:-} ]] ||
    die "Docker at DOCKER_HOST=$DOCKER_HOST does not answer." "Start it, or unset DOCKER_HOST to use this machine's Docker."
  is_root || explain_to_user
  command -v dockerd >/dev/null || install_docker
  docker_answers || start_docker
}

explain_to_user() {
  if command -v docker >/dev/null && [[ -S /var/run/docker.sock && ! -w /var/run/docker.sock ]]; then
    die "Docker is there, but user $(id -un) may not use it." \
      "Run: sudo usermod -aG docker $(id -un), log in again, then start this script again."
  fi
  if command -v dockerd >/dev/null; then
    die "Docker is installed but not running." "Start it, for example: sudo systemctl start docker"
  fi
  die "No container engine was found." "Install Docker (on Debian or Ubuntu: sudo apt-get install docker.io), or run this script as root."
}

install_docker() {
  is_debian_family || die "No container engine was found." "Install Docker, then start this script again."
  say "No container engine was found: installing Debian's package docker.io with apt-get and starting it."
  allowed "Install docker.io now?" || die "Nothing was installed." "Install Docker yourself, then start this script again."
  export DEBIAN_FRONTEND=noninteractive
  local packages=(docker.io git)
  # Without systemd nothing else mounts the control groups.
  has_systemd || packages+=(cgroupfs-mount)
  step "Reading the package lists" apt-get update
  step "Installing ${packages[*]}" apt-get install --yes --no-install-recommends "${packages[@]}"
  # Newer releases have the client in a package of its own.
  command -v docker >/dev/null || step "Installing docker-cli" apt-get install --yes --no-install-recommends docker-cli
}

start_docker() {
  if has_systemd; then
    step "Starting Docker with systemctl" systemctl start docker
  else
    say "- Starting dockerd in the background (log: /var/log/guardloop-dockerd.log)"
    # A session of its own: it outlives this script, as a service would.
    setsid dockerd >>/var/log/guardloop-dockerd.log 2>&1 </dev/null &
  fi
  local waited
  for ((waited = 0; waited < 60; waited++)); do
    docker_answers && return
    sleep 1
  done
  if has_systemd; then
    die "Docker did not start within a minute." "See: journalctl -u docker"
  fi
  die "Docker did not start within a minute." "See: /var/log/guardloop-dockerd.log"
}
