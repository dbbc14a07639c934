#!/bin/sh
# Stands before docker.js, which lies beside it under this file's name with `.js`: most calls of an engine have the same
# answer in every test, and a shell gives it in a thirtieth of the time that Node takes to start. Whatever is not plain
# goes on to docker.js: a switched-on fault, an engine that is down, images of a test's own, a container that is there.
here=${0%/*}
engine=${0##*/}
containers=$here/containers
[ "$engine" = docker ] || containers=$here/$engine-containers
separator=$(printf '\037')
newline='
'
for last; do :; done

in_full() { exec node "$0.js" "$@"; }

for file in faults.json down images.json; do
  [ ! -e "$here/$engine.$file" ] || in_full "$@"
done
case $* in *"$newline"*) in_full "$@" ;; esac

say() { answer=$1; }
refuse() { complaint=$1 status=$2; }
no_container() {
  if [ "$engine" = podman ]; then
    refuse "Error: no container with name or ID \"$last\" found: no such container" 125
  else
    refuse "Error: No such container: $last" 1
  fi
}
refuse_overlay() {
  if [ "$engine" = podman ]; then
    refuse 'Error: mounting volume abab for container abab: mount: wrong fs type, bad option, bad superblock on overlay' 126
  else
    refuse 'docker: Error response from daemon: error while mounting volume: failed to mount local volume: invalid argument.' 125
  fi
}
without_containers() { # Its answer when no container is there.
  for one in "$containers"/*; do
    [ ! -e "$one" ] || in_full "$@"
  done
  case "$engine $*" in podman*label=guardloop.run*) say '[]' ;; esac
}

answer='' complaint='' status=0
id=abababababababababababababababababababababababababababababababab
case $1 in
  info)
    if [ "$engine" = podman ]; then
      say '{"host":{"os":"linux","cpus":8,"memTotal":17179869184,"cgroupVersion":"v2","cgroupControllers":["cpu","memory","pids"],"ociRuntime":{"name":"crun"},"serviceIsRemote":false,"security":{"rootless":false,"seccompEnabled":true,"selinuxEnabled":false}},"version":{"Version":"4.3.1"}}'
    else
      say '{"ServerVersion":"20.10.24","OSType":"linux","NCPU":8,"MemTotal":17179869184,"SecurityOptions":["name=seccomp,profile=default"],"DefaultRuntime":"runc","Runtimes":{"runc":{},"runsc":{}}}'
    fi ;;
  image)
    [ "$2" = inspect ] || in_full "$@"
    if [ "$engine" = podman ]; then
      say "[{\"Id\":\"$id\",\"Config\":{\"Labels\":{\"guardloop.image.version\":\"1\"}}}]"
    else
      say "{\"Id\":\"sha256:$id\",\"Config\":{\"Labels\":{\"guardloop.image.version\":\"1\"}}}"
    fi ;;
  images) ;;
  events) case $* in *--filter=event=start*) in_full "$@" ;; esac ;;
  ps) without_containers "$@" ;;
  rm | kill)
    [ ! -e "$containers/$last" ] || in_full "$@"
    no_container ;;
  run)
    # Unless a test lets it, it mounts no overlays.
    case $* in *volume-opt=type=overlay*) ;; *) in_full "$@" ;; esac
    [ ! -e "$here/$engine.overlays" ] || in_full "$@"
    refuse_overlay ;;
  volume) [ "$2" = ls ] || in_full "$@" ;;
  *) in_full "$@" ;;
esac

# A record of the call, in one write, as world.ts reads it: arguments, then names of variables.
names=''
set -f
IFS=$newline
for line in $(export -p); do
  line=${line#export }
  names=$names$separator${line%%=*}
done
unset IFS
record=''
for one; do record=$record$separator$one; done
printf '%s\n' "quick$record${separator}env$names" >>"$here/$engine.calls.jsonl"

[ -z "$answer" ] || printf '%s\n' "$answer"
[ -z "$complaint" ] || printf '%s\n' "$complaint" >&2
exit "$status"
