import { chmod, chown, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** What a container never needs; their directories stay. */
const EMPTIED = [
  "var/lib/apt/lists",
  "var/cache/apt",
  "var/log",
  "var/tmp",
  "usr/share/man",
  "usr/share/info",
  "usr/share/locale",
  "usr/share/lintian",
];
/** debootstrap copies these from the host; the engine supplies a container's own. */
const REMOVED = ["etc/hostname", "etc/resolv.conf", "usr/local/lib/node_modules/npm/docs"];
const GUEST_ID = 1000;

/**
 * Takes Node's program out of its npm package to `bin/node`, and drops the rest of the package: npm derives its
 * global prefix from where the program really is.
 *
 * @param local the prefix that npm installed to, as seen from outside.
 */
export async function placeNode(local: string, nodePackage: string): Promise<void> {
  const packageDir = join(local, "lib", "node_modules", nodePackage);
  const program = join(local, "bin", "node");
  await mkdir(join(local, "bin"), { recursive: true });
  await rm(program, { force: true });
  await rename(join(packageDir, "bin", "node"), program);
  await mkdir(join(local, "share", "doc", "node"), { recursive: true });
  await rename(join(packageDir, "LICENSE"), join(local, "share", "doc", "node", "LICENSE"));
  await rm(packageDir, { recursive: true });
}

/** Makes the root directory small and adds the mount points: a container's root is read-only, so they must exist. */
export async function finishRoot(root: string): Promise<void> {
  for (const name of EMPTIED) await emptyDirectory(join(root, name));
  for (const name of REMOVED) await rm(join(root, name), { recursive: true, force: true });
  await keepLicencesOnly(join(root, "usr", "share", "doc"));
  await chmod(join(root, "tmp"), 0o1777);
  for (const name of ["guardloop", "workspace"]) {
    const path = join(root, name);
    await mkdir(path, { recursive: true, mode: 0o755 });
    await chown(path, GUEST_ID, GUEST_ID);
  }
}

async function emptyDirectory(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory() !== true) return;
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
}

/** Every package's documents but its licence. */
async function keepLicencesOnly(docDir: string): Promise<void> {
  for (const entry of await readdir(docDir, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const directory = join(docDir, entry.name);
    for (const name of await readdir(directory)) {
      if (name !== "copyright") await rm(join(directory, name), { recursive: true });
    }
  }
}
