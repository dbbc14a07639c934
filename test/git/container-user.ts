/** Another user than the one who runs the tests, where files can be given to one. */
export const CONTAINER_USER =
  process.getuid?.() === 0
    ? { uid: 1000, gid: 1000 }
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
