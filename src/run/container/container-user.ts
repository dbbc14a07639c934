/** The container's uid where guardloop itself runs as root: never 0. */
const ID_FOR_ROOT = 1000;

/** Who the container runs as: whoever calls guardloop, so that what is written belongs to them, but never root. */
export function containerUser(): { readonly uid: number; readonly gid: number } {
  const uid = process.getuid?.() ?? ID_FOR_ROOT;
  const gid = process.getgid?.() ?? ID_FOR_ROOT;
  return { uid: uid === 0 ? ID_FOR_ROOT : uid, gid: gid === 0 ? ID_FOR_ROOT : gid };
}
