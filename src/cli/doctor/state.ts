import { access, chmod, constants, lstat } from "node:fs/promises";
import { errnoOf } from "../../core/errno.ts";
import { failure } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { type Context } from "../context.ts";
import { type Check, type Mend, good, problem, warning } from "./check.ts";

/** What a check of the history can build on. */
export type StateDirectory = "usable" | "absent" | "unusable";

/** The directory itself: there, ours, private, and writable. Creates nothing. */
export async function stateDirectoryChecks({
  env: { stateDir },
}: Context): Promise<{ readonly state: StateDirectory; readonly checks: readonly Check[] }> {
  const stat = await lstat(stateDir).catch((error: unknown) => errnoOf(error));
  if (stat === "ENOENT")
    return {
      state: "absent",
      checks: [good("state", `${stateDir} is not there yet; the first run makes it`)],
    };
  const elsewhere = "or set XDG_STATE_HOME to another directory.";
  if (typeof stat === "string")
    return bad(
      `The state directory ${stateDir} cannot be looked at (${stat}).`,
      `Look at its permissions, ${elsewhere}`,
    );
  if (!stat.isDirectory())
    return bad(`The state directory ${stateDir} is not a directory.`, `Move it away, ${elsewhere}`);
  const uid = process.getuid?.() ?? stat.uid;
  if (stat.uid !== uid)
    return bad(
      `The state directory ${stateDir} belongs to user ${stat.uid}, and you are ${uid}.`,
      `Give it to yourself (chown -R), ${elsewhere}`,
    );
  const refused = await access(stateDir, constants.W_OK | constants.X_OK).catch(errnoOf);
  if (refused !== undefined)
    return bad(
      `Nothing can be written into the state directory ${stateDir} (${refused}).`,
      `Make it writable, ${elsewhere}`,
    );
  const mode = stat.mode & 0o777;
  if ((mode & 0o077) === 0) return { state: "usable", checks: [] };
  const text = `Other users can get at the state directory ${stateDir} (mode ${mode.toString(8)}), and records hold what agents printed.`;
  return { state: "usable", checks: [warning("state", text, closing(stateDir))] };
}

function closing(stateDir: string): Mend {
  return {
    will: "set its mode to 700",
    async act() {
      await chmod(stateDir, 0o700);
      return ok([`Set the mode of ${stateDir} to 700.`]);
    },
  };
}

function bad(message: string, cure: string) {
  return {
    state: "unusable" as const,
    checks: [problem("state", failure("state-unusable", message, { cure }))],
  };
}
