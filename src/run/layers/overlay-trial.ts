import { type Stats, lstatSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Failure } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { overlayProblem } from "../../engine/overlay-mount.ts";
import type { ContainerSpec, Engine, OverlayMount } from "../../engine/port.ts";
import { giveTo } from "../../files/ownership.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { runBriefly } from "../container/brief-container.ts";
import { type CheckedImage, checkingSpec } from "../container/image-check.ts";
import { IN_CONTAINER } from "../paths.ts";
import { layersDurability } from "./layers.ts";
import { removeOverlayWork } from "../container/overlay-work.ts";
import { removeTree } from "../../files/remove-tree.ts";

/** Does what an agent does to files, and tells what it saw. Runs in the image, where the layers are mounted. */
const SCRIPT = `
const fs = require("node:fs");
const seen = { names: fs.readdirSync(".").sort(), inode: String(fs.statSync("kept").ino), text: fs.readFileSync("both", "utf8") };
fs.appendFileSync("changed", "+");
fs.renameSync("moved", "elsewhere");
fs.rmSync("gone", { recursive: true });
fs.chmodSync("mode", 0o700);
fs.linkSync("changed", "linked");
fs.writeFileSync("new", "new");
console.log(JSON.stringify(seen));
`;
const SEEN = z.object({ names: z.array(z.string()), inode: z.string(), text: z.string() });

/** Files of the two layers, with their content; the upper one hides a file of the lower one. */
const UPPER_LAYER = { both: "upper", "moved/file": "moved", mode: "mode" };
const LOWER_LAYER = { both: "lower", kept: "kept", changed: "changed", "gone/file": "gone" };
const NAMES = ["both", "changed", "gone", "kept", "mode", "moved"];

export interface TrialRequest {
  readonly image: CheckedImage;
  readonly stateDir: string;
  /** Where the trial's files are made, and removed again; on the file system of the state directory. */
  readonly within: string;
  readonly signal: AbortSignal;
}

/**
 * What happened when a container worked over layers in the state directory; `refused` with the reason as a sentence
 * without its end. A failure is about the engine, and says nothing of layers.
 */
export type TrialVerdict =
  | { readonly is: "proven" }
  | { readonly is: "refused"; readonly why: string }
  /** Nothing was shown, now; another time it may be. */
  | { readonly is: "unclear"; readonly why: string };

/** Starts one small container with the full posture; nothing of it is left. */
export async function tryOverlay(
  engine: Engine,
  request: TrialRequest,
): Promise<Result<TrialVerdict, Failure>> {
  await ensurePrivateDirectory(request.within);
  const scratch = await mkdtemp(join(request.within, "trial-"));
  try {
    return await tryIn(engine, request, scratch);
  } finally {
    await removeOverlayWork(engine, join(scratch, "work"), () =>
      checkingSpec({ ...request, purpose: "overlay-cleaning", script: "" }),
    );
    await removeTree(scratch).catch(() => undefined);
  }
}

async function tryIn(
  engine: Engine,
  { image, stateDir, signal }: TrialRequest,
  scratch: string,
): Promise<Result<TrialVerdict, Failure>> {
  const overlay = await layOut(scratch);
  const problem = overlayProblem(overlay);
  if (problem !== undefined) return ok({ is: "refused", why: problem });
  const common = checkingSpec({ purpose: "overlay-check", image, stateDir, script: SCRIPT });
  const spec: ContainerSpec = { ...common, overlays: [overlay], workdir: overlay.target };
  for (const directory of [...overlay.lower, overlay.upper]) giveTo(directory, spec.user);
  const before = stateOf(overlay, spec.user);
  const brief = await runBriefly(engine, spec, signal);
  if (!brief.ok) return brief;
  const { end, stdout } = brief.value;
  const { name } = engine;
  if (end === "late")
    return ok({ is: "unclear", why: `a trial container of ${name} over layers took too long` });
  if ("code" in end)
    return end.code === "engine-unavailable"
      ? err(end)
      : ok({ is: "refused", why: `${name} started no container over layers: ${end.message}` });
  if (end.exitCode !== 0)
    return ok({ is: "refused", why: `a trial container of ${name} could not work over layers` });
  const wrong = differences(overlay, stdout, before);
  if (wrong.length === 0 && stateOf(overlay, spec.user).below === before.below)
    return ok({ is: "proven" });
  const what =
    wrong.length === 0
      ? "what lies below was changed"
      : `not as on a plain disk were: ${wrong.join(", ")}`;
  return ok({ is: "refused", why: `in a trial container of ${name} over layers, ${what}` });
}

async function layOut(scratch: string): Promise<OverlayMount> {
  const at = (name: string): string => join(scratch, name);
  const layers = [
    ["first", UPPER_LAYER],
    ["second", LOWER_LAYER],
  ] as const;
  for (const [layer, files] of layers)
    for (const [path, text] of Object.entries(files)) {
      const file = join(at(layer), path);
      await mkdir(join(file, ".."), { recursive: true });
      await writeFile(file, text, { mode: 0o644 });
    }
  for (const name of ["upper", "work"]) await mkdir(at(name));
  await chmod(at("upper"), 0o750);
  return {
    role: "workspace",
    lower: [at("first"), at("second")],
    upper: at("upper"),
    work: at("work"),
    durability: layersDurability(),
    target: IN_CONTAINER.workspace,
  };
}

interface Before {
  /** Everything of the layers below that must not change. */
  readonly below: string;
  readonly inode: string;
  readonly user: ContainerSpec["user"];
}

function stateOf({ lower }: OverlayMount, user: ContainerSpec["user"]): Before {
  const [first = "", second = ""] = lower;
  const files = [
    ...Object.keys(UPPER_LAYER).map((path) => join(first, path)),
    ...Object.keys(LOWER_LAYER).map((path) => join(second, path)),
  ];
  const below = files.map((file) => {
    const stat = look(file);
    return [file, stat?.ino, stat?.mode, stat?.uid, stat?.size, stat?.mtimeMs, stat?.ctimeMs];
  });
  return { below: JSON.stringify(below), inode: String(look(join(second, "kept"))?.ino), user };
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** What differs from how it must be, by names for people. */
function differences(overlay: OverlayMount, said: string, before: Before): readonly string[] {
  const seen = SEEN.safeParse(parse(said)).data;
  const checks: Readonly<Record<string, boolean>> = {
    "the files that are seen": JSON.stringify(seen?.names) === JSON.stringify(NAMES),
    "the order of layers": seen?.text === "upper",
    "inode numbers": seen?.inode === before.inode,
    ...writtenAsExpected(overlay, before),
  };
  return Object.keys(checks).filter((name) => checks[name] !== true);
}

function writtenAsExpected(
  { upper }: OverlayMount,
  { user }: Before,
): Readonly<Record<string, boolean>> {
  const above = (path: string): Stats | undefined => look(join(upper, path));
  const isGone = (path: string): boolean =>
    above(path)?.isCharacterDevice() === true && above(path)?.rdev === 0;
  const changed = above("changed");
  return {
    writing: textOf(join(upper, "new")) === "new" && textOf(join(upper, "changed")) === "changed+",
    "hard links": changed !== undefined && changed.ino === above("linked")?.ino,
    "renaming a directory": isGone("moved") && above("elsewhere")?.isDirectory() === true,
    deleting: isGone("gone"),
    modes: ((above("mode")?.mode ?? 0) & 0o777) === 0o700,
    owners: changed?.uid === user.uid && changed.gid === user.gid && look(upper)?.uid === user.uid,
  };
}

function textOf(path: string): string | undefined {
  return look(path)?.isFile() === true ? readFileSync(path, "utf8") : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
