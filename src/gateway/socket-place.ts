import { lstat, mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";

/** sun_path holds 108 bytes on Linux and 104 on macOS, with the byte that ends it (unix(7), unix(4)). */
const LONGEST_SOCKET_PATH = 100;
const LONGEST_NAME = "/model.sock";
/** Where a temp directory of the system's own is too deep for a socket, as on macOS. */
const SHORT_TEMP = "/tmp";

export const SOCKET_NAMES = { model: "model.sock", proxy: "proxy.sock" } as const;

/** Where sockets may be made; runs of one state directory lie side by side. */
export interface SocketPlace {
  /** XDG_RUNTIME_DIR, absolute; undefined where there is none. */
  readonly runtimeDir: string | undefined;
  readonly tempDir: string;
  /** Of this process. */
  readonly uid: number;
  readonly stateId: string;
}

/** A run's sockets, as they are found without the database. */
export interface FoundSockets {
  readonly runId: string;
  /** To be given to `removeSockets`. */
  readonly directory: string;
}

/**
 * Makes the directory for a run's sockets, which only this user can enter; it may be there already. Below
 * XDG_RUNTIME_DIR where that is a directory of this user's, else below `guardloop-UID` in the temp directory.
 *
 * The socket files themselves are open to everybody, because connecting to one takes write permission on it and the
 * container's user has another number: this directory is what keeps the other users of the host out.
 *
 * @returns gateway-failed where a directory is not ours alone, or the path is too long for a socket.
 */
export async function socketDirectory(
  place: SocketPlace,
  runId: string,
): Promise<Result<string, Failure>> {
  const root = await chosenRoot(place);
  const path = join(root, place.stateId, runId);
  const bytes = Buffer.byteLength(path + LONGEST_NAME);
  if (bytes > LONGEST_SOCKET_PATH)
    return fail(
      "gateway-failed",
      `The path of the gateway's socket below ${path} would have ${bytes} bytes, and a socket's may have ${LONGEST_SOCKET_PATH}.`,
      { cure: "Set XDG_RUNTIME_DIR or TMPDIR to a directory with a shorter path." },
    );
  const levels = [root, join(root, place.stateId), path];
  // A run that ends at this moment takes the directory above away when it is empty.
  for (let tries = 1; ; tries += 1) {
    const problem = await firstProblem(levels, place.uid);
    if (problem === undefined) return ok(path);
    if (tries < 5 && problem.includes("ENOENT")) continue;
    return fail("gateway-failed", `The gateway's socket cannot be made: ${problem}`, {
      cure: "Remove that, or set XDG_RUNTIME_DIR to a directory of your own.",
    });
  }
}

async function firstProblem(levels: readonly string[], uid: number): Promise<string | undefined> {
  for (const directory of levels) {
    const problem = await makeOurs(directory, uid);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Removes a run's sockets, or one of them, and their directory when it is empty then; nothing happens where they are
 * gone. Follows no link.
 */
export async function removeSockets(
  directory: string,
  which: keyof typeof SOCKET_NAMES | "all" = "all",
): Promise<void> {
  const stat = await lstat(directory).catch(() => undefined);
  if (stat === undefined || !stat.isDirectory()) return;
  const names = which === "all" ? Object.values(SOCKET_NAMES) : [SOCKET_NAMES[which]];
  for (const name of names) await rm(join(directory, name), { force: true });
  await removeWhenEmpty(directory);
  // That of the state directory, where this was its last run.
  await removeWhenEmpty(join(directory, ".."));
}

/** Also of a run that is no more known; looks below both roots, since XDG_RUNTIME_DIR is not set in every session. */
export async function listSocketDirectories(place: SocketPlace): Promise<readonly FoundSockets[]> {
  const found: FoundSockets[] = [];
  for (const root of rootsOf(place)) {
    if ((await problemWith(root, place.uid)) !== undefined) continue;
    const parent = join(root, place.stateId);
    for (const runId of await readdir(parent).catch(() => []))
      found.push({ runId, directory: join(parent, runId) });
  }
  return found;
}

function rootsOf({ runtimeDir, tempDir, uid }: SocketPlace): readonly string[] {
  const own = `guardloop-${uid}`;
  const inTemp = [join(tempDir, own), join(SHORT_TEMP, own)];
  return [
    ...new Set(runtimeDir === undefined ? inTemp : [join(runtimeDir, "guardloop"), ...inTemp]),
  ];
}

async function chosenRoot(place: SocketPlace): Promise<string> {
  const { runtimeDir, tempDir, uid, stateId } = place;
  // A variable that another user's session left behind, as with sudo, is passed by.
  if (runtimeDir !== undefined && (await problemWith(runtimeDir, uid)) === undefined)
    return join(runtimeDir, "guardloop");
  const usual = join(tempDir, `guardloop-${uid}`);
  const sample = join(usual, stateId, "000000-000000-00000") + LONGEST_NAME;
  const fits = Buffer.byteLength(sample) <= LONGEST_SOCKET_PATH;
  return fits ? usual : join(SHORT_TEMP, `guardloop-${uid}`);
}

async function makeOurs(directory: string, uid: number): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") return `${directory} cannot be made (${errnoOf(error)}).`;
  }
  return problemWith(directory, uid);
}

/** Why a directory must not hold our sockets; a sentence. */
async function problemWith(directory: string, uid: number): Promise<string | undefined> {
  const stat = await lstat(directory).catch(() => undefined);
  if (stat === undefined) return `${directory} is not there (ENOENT).`;
  if (stat.isSymbolicLink()) return `${directory} is a symbolic link.`;
  if (!stat.isDirectory()) return `${directory} is not a directory.`;
  if (stat.uid !== uid) return `${directory} belongs to another user (uid ${stat.uid}).`;
  if ((stat.mode & 0o077) !== 0)
    return `${directory} is open to other users (mode 0${(stat.mode & 0o777).toString(8)}).`;
  return undefined;
}

async function removeWhenEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT", "EBUSY"].includes(errnoOf(error))) throw error;
  }
}
