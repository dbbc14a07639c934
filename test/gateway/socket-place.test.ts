import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  listSocketDirectories,
  removeSockets,
  socketDirectory,
} from "../../src/gateway/socket-place.ts";
import { directory } from "./rig.ts";

const UID = process.getuid?.() ?? 0;
const RUN = "261130-120000-abcde";
const STATE = "0123456789ab";

function place(tempDir: string, runtimeDir?: string) {
  return { tempDir, runtimeDir, uid: UID, stateId: STATE };
}

async function made(where: ReturnType<typeof place>, run = RUN): Promise<string> {
  const result = await socketDirectory(where, run);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

async function problem(where: ReturnType<typeof place>): Promise<string> {
  const result = await socketDirectory(where, RUN);
  if (result.ok) throw new Error(`made ${result.value}`);
  expect(result.error.code).toBe("gateway-failed");
  return result.error.message;
}

test("sockets lie below XDG_RUNTIME_DIR, in directories of our own", async () => {
  using at = directory();
  const path = await made(place("/nowhere", at.path));
  expect(path).toBe(join(at.path, "guardloop", STATE, RUN));
  for (const one of [path, join(path, ".."), join(path, "../..")])
    expect(lstatSync(one).mode & 0o777).toBe(0o700);
  expect(await made(place("/nowhere", at.path))).toBe(path);
});

test("without it they lie in the temp directory", async () => {
  using at = directory();
  expect(await made(place(at.path))).toBe(join(at.path, `guardloop-${UID}`, STATE, RUN));
});

test("an XDG_RUNTIME_DIR that is a link, open to others or not there is passed by", async () => {
  using at = directory();
  const inTemp = join(at.path, `guardloop-${UID}`, STATE, RUN);
  mkdirSync(join(at.path, "real"), { mode: 0o700 });
  symlinkSync(join(at.path, "real"), join(at.path, "link"));
  mkdirSync(join(at.path, "open"));
  chmodSync(join(at.path, "open"), 0o755);
  for (const name of ["link", "open", "missing"])
    expect(await made(place(at.path, join(at.path, name)))).toBe(inTemp);
  expect(readdirSync(join(at.path, "real"))).toEqual([]);
});

test("a link, a file, another mode or another owner in the way is refused by name", async () => {
  using at = directory();
  const own = join(at.path, `guardloop-${UID}`);
  mkdirSync(join(at.path, "elsewhere"), { mode: 0o700 });
  symlinkSync(join(at.path, "elsewhere"), own);
  expect(await problem(place(at.path))).toContain(`${own} is a symbolic link`);
  using second = directory();
  mkdirSync(join(second.path, `guardloop-${UID}`), { mode: 0o750 });
  expect(await problem(place(second.path))).toMatch(/is open to other users \(mode 0750\)/);
  using third = directory();
  writeFileSync(join(third.path, `guardloop-${UID}`), "");
  expect(await problem(place(third.path))).toContain("is not a directory");
  using fourth = directory();
  mkdirSync(join(fourth.path, `guardloop-${UID + 1}`), { mode: 0o700 });
  const other = { ...place(fourth.path), uid: UID + 1 };
  expect(await problem(other)).toContain(`belongs to another user (uid ${UID})`);
  using fifth = directory();
  mkdirSync(join(fifth.path, `guardloop-${UID}`), { mode: 0o700 });
  symlinkSync(at.path, join(fifth.path, `guardloop-${UID}`, STATE));
  expect(await problem(place(fifth.path))).toContain("is a symbolic link");
});

test("a path that no socket can have is told, with what to do", async () => {
  using at = directory();
  const deep = join(at.path, "d".repeat(80));
  mkdirSync(deep, { mode: 0o700 });
  const result = await socketDirectory(place(at.path, deep), RUN);
  expect(result).toMatchObject({
    ok: false,
    error: { cure: expect.stringContaining("XDG_RUNTIME_DIR") },
  });
});

test("what is left of runs is found without a database and removed, as often as one likes", async () => {
  using at = directory();
  mkdirSync(join(at.path, "rt"), { mode: 0o700 });
  const one = await made(place(at.path, join(at.path, "rt")), "run-1");
  const two = await made(place(at.path), "run-2");
  writeFileSync(join(one, "model.sock"), "");
  writeFileSync(join(one, "proxy.sock"), "");
  const found = await listSocketDirectories(place(at.path, join(at.path, "rt")));
  expect(found.map(({ runId }) => runId).toSorted()).toEqual(["run-1", "run-2"]);
  for (const { directory: path } of [...found, ...found]) await removeSockets(path);
  expect(existsSync(one) || existsSync(two)).toBe(false);
  expect(await listSocketDirectories(place(at.path, join(at.path, "rt")))).toEqual([]);
});

test("removing follows no link and takes nothing that is no socket of ours", async () => {
  using at = directory();
  const path = await made(place(at.path));
  writeFileSync(join(path, "notes"), "");
  symlinkSync(path, join(at.path, "link"));
  writeFileSync(join(path, "model.sock"), "");
  await removeSockets(join(at.path, "link"));
  expect(readdirSync(path).toSorted()).toEqual(["model.sock", "notes"]);
  await removeSockets(path);
  expect(readdirSync(path)).toEqual(["notes"]);
});
