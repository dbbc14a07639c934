import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Command } from "commander";
import { EXIT, fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { type TarEntry, readTar } from "../../files/tar.ts";
import type { Check } from "../../run/export/check.ts";
import { verifyArchive } from "../../run/export/verify-archive.ts";
import { type Context, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { dim, green } from "../output/text.ts";

const LARGEST_BYTES = 1024 ** 3;

export function verifyCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "verify",
    description:
      "Checks that every file of the archive has the hash that its provenance.json names, that spec, prompt, patches, import, findings and decision fit each other, and, inside a repository that has the commits, that commits, trees and branch agree. Nothing is unpacked. It shows damage and changes, not who made the archive: it is not a signature.",
    exits: [EXIT.done, EXIT.usage, EXIT.resultRefused],
    examples: ["guardloop verify guardloop-261129-164712-k3f9q.tar.gz"],
  }).argument("<archive>", "a file that guardloop export wrote");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const path = resolve(context.cwd, call.args[0] ?? "");
  const entries = await readArchive(path);
  const principal = await principalOf(context);
  const git = principal.ok ? principal.value.git : undefined;
  const verified = entries === undefined ? undefined : await verifyArchive(entries, git);
  if (verified === undefined)
    return fail("archive-unreadable", `${path} is not an archive of a run.`);
  const { run, checks } = verified;
  const wrong = checks.find((check) => check.verdict === "mismatch");
  if (wrong !== undefined)
    return fail("archive-mismatch", `${path}: ${wrong.name}: ${wrong.text}`, {
      details: checks.map((check) => `${check.verdict.padEnd(8)}  ${check.name}: ${check.text}`),
    });
  if (call.format === "json") context.output.json({ version: 1, run, checks });
  else print(call, run, checks);
  return ok(EXIT.done);
}

function print({ context: { output } }: Call, run: string, checks: readonly Check[]): void {
  output.result(`Archive of run ${run}`);
  output.table(
    checks.map(({ name, verdict, text }) => [
      verdict === "ok" ? green(verdict) : dim(verdict),
      name,
      text,
    ]),
  );
}

async function readArchive(path: string): Promise<readonly TarEntry[] | undefined> {
  try {
    const bytes = await readFile(path);
    return readTar(await promisify(gunzip)(bytes, { maxOutputLength: LARGEST_BYTES }));
  } catch {
    return undefined;
  }
}
