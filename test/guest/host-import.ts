import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Manifest } from "../../src/core/artifacts.ts";
import { type GuestRun, type Stage, git, gitBytes } from "./rig.ts";

/** What the host gets when it applies the patches in a quarantine of its own. */
export interface Imported {
  readonly manifest: Manifest;
  readonly trees: readonly string[];
  readonly finalTree: string;
  /** A repository in which the imported trees can be looked at. */
  readonly quarantine: string;
}

/** Applies the patches with the steps docs/artifacts.md promises, and expects every tree of the manifest. */
export function importAsHost(stage: Stage, run: GuestRun): Imported {
  const { manifest } = run;
  if (manifest === undefined) throw new Error(`no manifest; the guest said: ${run.output}`);
  const quarantine = mkdtempSync(join(stage.directory, "quarantine-"));
  git(quarantine, ["init", "-q", "--bare", "--template=", "."]);
  mkdirSync(join(quarantine, "objects/info"), { recursive: true });
  writeFileSync(join(quarantine, "objects/info/alternates"), `${stage.user}/.git/objects\n`);
  const inQuarantine = (...args: readonly string[]): string =>
    git(quarantine, ["--git-dir=.", ...args]);
  inQuarantine("read-tree", stage.base);
  const files = readdirSync(join(stage.artifacts, "patches")).toSorted();
  expect(files).toEqual(manifest.patches.map((patch) => patch.file));
  const trees = manifest.patches.map(({ file, tree }) => {
    expect(file).toMatch(/^\d{4}-[A-Za-z0-9._-]{1,60}\.patch$/);
    const path = join(stage.artifacts, "patches", file);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    const mails = mkdtempSync(join(quarantine, "mails-"));
    expect(inQuarantine("mailsplit", "--keep-cr", `-o${mails}`, "--", path)).toBe("1");
    const mailinfo = ["mailinfo", "-k", "--no-scissors", "--quoted-cr=nowarn", "--encoding=UTF-8"];
    gitBytes(quarantine, [...mailinfo, "message", "diff"], readFileSync(join(mails, "0001")));
    if (statSync(join(quarantine, "diff")).size > 0)
      inQuarantine("apply", "--cached", "--whitespace=nowarn", "--", "diff");
    const imported = inQuarantine("write-tree");
    expect(imported).toBe(tree);
    return imported;
  });
  const finalTree = trees.at(-1) ?? inQuarantine("rev-parse", `${stage.base}^{tree}`);
  expect(finalTree).toBe(manifest.finalTree);
  return { manifest, trees, finalTree, quarantine };
}

/** Content of every file of the final tree by path; symbolic links give their target. One final line feed is cut. */
export function filesOf(imported: Imported): Record<string, string> {
  const listed = gitBytes(imported.quarantine, [
    "--git-dir=.",
    "ls-tree",
    "-r",
    "-z",
    imported.finalTree,
  ]);
  const content = (id: string): string =>
    gitBytes(imported.quarantine, ["--git-dir=.", "cat-file", "blob", id])
      .toString("utf8")
      .replace(/\n$/, "");
  const rows = listed.toString("latin1").split("\0").filter(Boolean);
  return Object.fromEntries(
    rows.map((row) => {
      const [, mode = "", , id = "", path = ""] = /^(\d+) (\w+) (\w+)\t([^]*)$/.exec(row) ?? [];
      return [Buffer.from(path, "latin1").toString("utf8"), mode === "160000" ? id : content(id)];
    }),
  );
}
