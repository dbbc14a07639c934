import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PatchEntry } from "../../core/artifacts.ts";
import type { Failure } from "../../core/failures.ts";
import { LIMITS } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { touchedPaths } from "../../git/touched-paths.ts";
import { refuseMail } from "../artifacts/mail-check.ts";
import {
  type MailSizes,
  measureMail,
  refuseMailSizes,
  refuseSeriesSizes,
} from "../artifacts/mail-sizes.ts";
import type { RunPaths } from "../paths.ts";

/** A saved patch that is fit to be given to Git. */
export interface Patch {
  readonly entry: PatchEntry;
  /** Absolute. */
  readonly path: string;
  /** See `touchedPaths`. */
  readonly touched: ReadonlySet<string>;
}

/** Everything that can be known of the mails without Git, before Git does any work for them. */
export async function checkedPatches(
  paths: RunPaths,
  entries: readonly PatchEntry[],
): Promise<Result<readonly Patch[], Failure>> {
  const all: MailSizes[] = [];
  const patches: Patch[] = [];
  for (const entry of entries) {
    const { file } = entry;
    const path = join(paths.artifacts, "patches", file);
    const mail = await readFile(path);
    const fine = refuseMail(mail, file, LIMITS.declaredBinaryBytes);
    if (!fine.ok) return fine;
    const sizes = measureMail(mail);
    const fits = refuseMailSizes(sizes, file);
    if (!fits.ok) return fits;
    all.push(sizes);
    patches.push({ entry, path, touched: touchedPaths(mail) });
  }
  const fits = refuseSeriesSizes(all);
  return fits.ok ? ok(patches) : fits;
}
