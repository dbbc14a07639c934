import { join, relative, resolve } from "node:path";
import { type Result, err, ok } from "../core/result.ts";
import { kindOf, readBounded } from "./read-file.ts";

const POINTER_BYTES = 4096;
const PACKED_REFS_BYTES = 16 * 1024 * 1024;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_SYMBOLIC = 5;

/**
 * Finds the commit of the workspace's HEAD without running git there: `.git` and everything in it was in the
 * agent's hands. Only HEAD counts; other branches and the reflog are not looked at.
 *
 * @returns an object id that is still to be verified, or a clause that says why there is none.
 */
export function readHead(workspace: string): Result<string, string> {
  const gitDir = join(workspace, ".git");
  const kind = kindOf(gitDir);
  if (kind === "missing") return err("the repository's .git is gone");
  if (kind !== "directory") return err("the repository's .git is not a directory any more");
  let pointer = readPointer(join(gitDir, "HEAD"));
  for (let hop = 0; pointer !== undefined && hop < MAX_SYMBOLIC; hop += 1) {
    if (OBJECT_ID.test(pointer)) return ok(pointer);
    const name = /^ref:\s*(refs\/.+)$/.exec(pointer)?.[1];
    if (name === undefined || !isPlainRefName(name)) return err("HEAD is not readable");
    pointer = looseRef(gitDir, name) ?? packedRef(gitDir, name);
    if (pointer === undefined) return err("HEAD has no commit");
  }
  return err("HEAD is not readable");
}

/**
 * Where a `.git` file points to, when that is inside the workspace: a repository's data that must not be taken for
 * the agent's work.
 *
 * @returns a path relative to the workspace.
 */
export function gitFileTarget(workspace: string, directory: string): string | undefined {
  const pointer = readPointer(join(workspace, directory, ".git"));
  const target = pointer === undefined ? undefined : /^gitdir:\s*(.+)$/.exec(pointer)?.[1];
  if (target === undefined) return undefined;
  const inside = relative(
    workspace,
    resolve(workspace, directory, Buffer.from(target, "latin1").toString("utf8")),
  );
  return inside === "" || inside.startsWith("..") ? undefined : inside;
}

/** First line of a small file, bytes as characters. */
function readPointer(path: string | Buffer): string | undefined {
  const bytes = readBounded(path, POINTER_BYTES);
  return bytes.ok ? bytes.value.toString("latin1").split("\n", 1)[0]?.trim() : undefined;
}

/** Enough of git-check-ref-format(1) to stay below the Git directory. */
function isPlainRefName(name: string): boolean {
  const parts = name.split("/");
  return parts.every((part) => part !== "" && !part.startsWith(".")) && !name.includes("\0");
}

/** Reads a loose ref; every directory on the way must be a real one. */
function looseRef(gitDir: string, name: string): string | undefined {
  let path = Buffer.from(gitDir);
  for (const part of name.split("/")) {
    if (kindOf(path) !== "directory") return undefined;
    path = Buffer.concat([path, Buffer.from(`/${part}`, "latin1")]);
  }
  const pointer = readPointer(path);
  return pointer === "" ? undefined : pointer;
}

function packedRef(gitDir: string, name: string): string | undefined {
  const bytes = readBounded(join(gitDir, "packed-refs"), PACKED_REFS_BYTES);
  if (!bytes.ok) return undefined;
  for (const line of bytes.value.toString("latin1").split("\n")) {
    const space = line.indexOf(" ");
    if (space > 0 && line.slice(space + 1) === name) return line.slice(0, space);
  }
  return undefined;
}
