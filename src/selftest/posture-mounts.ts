import type { Agreed } from "./agreed.ts";
import type { MountPoint } from "./probe/found.ts";

/** Mounts that every engine makes for name resolution, and its init. */
const ENGINES_OWN =
  /^\/(etc\/(hosts|hostname|resolv\.conf)|(usr\/)?s?bin\/docker-init|run\/(podman-init|\.containerenv)|dev)$/;

/** A mount in the words of `agreedMounts`; nothing for the engine's own. */
export function describedMount({ target, type, options, source }: MountPoint): readonly string[] {
  if (target === "/") return [`/ ${options.includes("ro") ? "ro" : "rw"}`];
  if (target === "/dev/shm") return [`${target} ${source} ${options.join(",")}`];
  if (ENGINES_OWN.test(target)) return target === "/dev" || options.includes("ro") ? [] : [target];
  // Over layers the snapshot may do less than where it is one directory: no program of it gets another user's rights.
  if (target === "/workspace" && type === "overlay" && isPlain(options))
    return ["/workspace bind rw"];
  return [`${target} ${type === "tmpfs" ? "tmpfs" : "bind"} ${options.join(",")}`];
}

function isPlain(options: readonly string[]): boolean {
  return ["rw", "nosuid", "nodev"].every((one) => options.includes(one));
}

export function agreedMounts({ uid, gid, tmpBytes, homeBytes }: Agreed): readonly string[] {
  const tmpfs = (bytes: number): string =>
    ["nodev", "nosuid", "rw", `size=${bytes / 1024}k`, `uid=${uid}`, `gid=${gid}`]
      .toSorted()
      .join(",");
  return [
    "/ ro",
    "/dev/shm shm nodev,noexec,nosuid,rw,size=65536k",
    `/tmp tmpfs ${tmpfs(tmpBytes)}`,
    `/guardloop/home tmpfs ${tmpfs(homeBytes)}`,
    "/workspace bind rw",
    "/guardloop/artifacts bind rw",
    "/guardloop/job bind ro",
    "/guardloop/base.git bind ro",
    "/etc/passwd bind ro",
    "/etc/group bind ro",
  ];
}
