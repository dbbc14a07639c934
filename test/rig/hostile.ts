import { lstatSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type World, checkoutDigest, leftovers, runsOf } from "./world.ts";

/** A text that must never leave the file it stands in. */
export const SECRET = "TOPSECRET-4711";

/** Writes a file of the user's beside the repository, for artifacts to point at. */
export function writeSecret(world: World): string {
  const path = join(world.root, "secret.txt");
  writeFileSync(path, `${SECRET}\n`);
  return path;
}

/** Names of the first patch and of the artifacts, for scripts that run in the outbox. */
const SHELL_PRELUDE = `
first=$(ls patches 2>/dev/null | head -n 1)
`;

/** Lets a shell script have the last word in the outbox, after the guest has ended. Scripted engine only. */
export function afterGuest(world: World, script: string): void {
  world.faults({ afterScript: `${SHELL_PRELUDE}\n${script}` });
}

/**
 * The same in JavaScript, with what a hostile container needs to forge an export: \`first\`, \`read\`, \`write\`,
 * \`git(args, input)\` on a scratch repository over the base's objects, \`manifest\` and \`save()\`.
 */
export function afterGuestNode(world: World, script: string): void {
  const path = join(world.root, "after.cjs");
  writeFileSync(path, `${NODE_PRELUDE}\n${script}\n`);
  world.faults({ afterScript: `exec "${process.execPath}" "${path}"` });
}

const NODE_PRELUDE = String.raw`
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const first = "patches/" + fs.readdirSync("patches").sort()[0];
const read = (name) => fs.readFileSync(name, "utf8");
const write = (name, text) => fs.writeFileSync(name, text);
const manifest = JSON.parse(read("manifest.json"));
const save = () => write("manifest.json", JSON.stringify(manifest));
const mail = (diff, headers = "", body = "Do T1\n") =>
  "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n" +
  "From: Mallory <mallory@example.com>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: Do T1\n" +
  headers + "\n" + body + "---\n\n" + diff;
const adds = (name, mode = "100644") =>
  "diff --git a/" + name + " b/" + name + "\nnew file mode " + mode +
  "\nindex 0000000..0000000\n--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+evil\n";
const scratch = fs.mkdtempSync(path.join(path.dirname(process.argv[1]), "forge-"));
const git = (args, input = "") =>
  execFileSync("git", args, {
    input,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH, HOME: scratch, GIT_DIR: scratch + "/forge.git",
      GIT_INDEX_FILE: scratch + "/index", GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "M", GIT_AUTHOR_EMAIL: "m@example.com",
      GIT_COMMITTER_NAME: "M", GIT_COMMITTER_EMAIL: "m@example.com",
    },
  }).trim();
git(["init", "-q", "--bare", scratch + "/forge.git"]);
fs.writeFileSync(scratch + "/forge.git/objects/info/alternates", process.env.BASE_STORE + "/objects\n");
/** Replaces the export by one whose manifest agrees with its patch: a container that lies consistently. */
const forge = (entries) => {
  git(["read-tree", manifest.base]);
  for (const [mode, name, content] of entries) {
    const oid = mode === "160000" ? manifest.base : git(["hash-object", "-w", "--stdin"], content);
    git(["update-index", "--add", "--cacheinfo", mode + "," + oid + "," + name]);
  }
  const tree = git(["write-tree"]);
  const commit = git(["commit-tree", tree, "-p", manifest.base, "-m", "Do T1"]);
  const text = git(["format-patch", "--stdout", "-1", "-k", "--binary", "--full-index", "--no-renames", commit]);
  for (const name of fs.readdirSync("patches")) fs.rmSync("patches/" + name);
  write(first, text + "\n");
  manifest.patches = [{ ...manifest.patches[0], file: path.basename(first), commit, tree }];
  manifest.finalTree = tree;
  save();
};
`;

/**
 * The promise for every hostile result, beside exit 4: a failure that names the artifact and the reason, the user's side
 * byte for byte as before, nothing left over.
 */
export async function expectRefused(
  world: World,
  expected: { readonly before: string; readonly code: string; readonly says: string },
): Promise<void> {
  const [run] = await runsOf(world);
  expect(run?.failure).toMatchObject({ code: expected.code });
  expect(run?.failure?.message).toMatch(new RegExp(expected.says));
  expect(run).toMatchObject({ state: "failed", branch: null });
  expect(checkoutDigest(world)).toBe(expected.before);
  expect(leftovers(world)).toEqual([]);
  expectSecretKept(world);
}

/** The secret is neither in the run records nor in any object of the user's repository. */
export function expectSecretKept(world: World): void {
  expect(filesWith(join(world.state, "runs"), SECRET)).toEqual([]);
  expect(world.git("cat-file", "--batch-all-objects", "--batch")).not.toContain(SECRET);
}

function filesWith(directory: string, text: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) return filesWith(path, text);
    return stat.isFile() && readFileSync(path, "latin1").includes(text) ? [path] : [];
  });
}
