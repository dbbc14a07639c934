import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Command } from "commander";
import { errnoOf } from "../../core/errno.ts";
import { EXIT, fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { writeTar } from "../../files/tar.ts";
import { exportRun } from "../../run/export/export-run.ts";
import { type Context, packageVersion } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { size } from "../output/duration.ts";
import { refuseRemovedRecord } from "../output/record-removed.ts";
import { yellow } from "../output/text.ts";
import { type WithRun, principalOfRun, withRun } from "../with-run.ts";

export function exportCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "export",
    description:
      "Writes a .tar.gz with the run's spec, events, container call, snapshot manifest, artifacts and patches, import, findings, validation and agent log, and a provenance.json with their hashes. Values of the variables that were passed to the run and of the repository's untracked .env files, as they are set now, and whatever has a known form of secret are replaced. The repository's content is in the patches.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop export @last", "guardloop export @last --output run.tar.gz"],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option(
      "--output <file>",
      "where to; an existing file is not overwritten (standard: guardloop-RUN.tar.gz)",
    );
  return action(command, { context, finish }, (call) => withRun(call, (at) => perform(call, at)));
}

async function perform(call: Call, { run, history, principal }: WithRun): Promise<CommandEnd> {
  const { context } = call;
  if (run.state === "running")
    return fail("not-in-this-state", `Run ${run.id} is still running; its record is not whole.`, {
      cure: `Wait for its end: guardloop watch ${run.id}.`,
    });
  const there = refuseRemovedRecord(run);
  if (!there.ok) return there;
  const its = await principalOfRun(call, { run, principal });
  const isSame = its.ok && its.value.repositoryId === run.repositoryId;
  const exported = await exportRun(
    {
      env: context.env,
      history,
      principal: isSame ? its.value : undefined,
      version: packageVersion(context.packageRoot),
      now: context.now,
    },
    run,
  );
  if (!exported.ok) return exported;
  const { entries, redacted, notRead } = exported.value;
  const path = resolve(context.cwd, textOption(call, "output") ?? `guardloop-${run.id}.tar.gz`);
  const bytes = await promisify(gzip)(writeTar(entries));
  try {
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
  } catch (error) {
    return fail("usage", `${path} cannot be written (${errnoOf(error)}).`, {
      cure: "Name another file with --output.",
    });
  }
  const files = entries.length;
  if (call.format === "json")
    context.output.json({
      version: 1,
      run: run.id,
      path,
      sizeBytes: bytes.length,
      files,
      redacted,
      notRead,
    });
  else {
    context.output.result(`Wrote ${path}: ${files} files, ${size(bytes.length)}.`);
    for (const name of redacted) context.output.result(`  redacted: ${name}`);
    for (const what of notRead) context.output.progress(yellow("Note: "), what);
    context.output.result(`Check it anywhere with: guardloop verify ${path}`);
  }
  return ok(EXIT.done);
}
