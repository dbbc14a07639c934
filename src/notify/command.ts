import { err, ok } from "../core/result.ts";
import { visible } from "../core/visible.ts";
import type { Environment } from "../process/command.ts";
import { findProgram } from "../process/find-program.ts";
import { run } from "../process/spawn.ts";
import type { Channel } from "./notification.ts";

const DEADLINE_MS = 30_000;
const MAX_OUTPUT_BYTES = 4096;

/**
 * A program of the user's own, on the host. It gets the title and the message as its last two arguments (what
 * `notify-send` expects), the whole notification as one line of JSON on standard input, and an environment of `base`
 * with `GUARDLOOP_KIND`, `GUARDLOOP_RUN` and `GUARDLOOP_TASK`. No shell is involved, and a title never begins with a
 * dash.
 *
 * @param words the program and its first arguments; a program without a slash is looked up on PATH.
 * @param base what the program may see of the user's environment; PATH must be in it.
 * @param cwd a directory in which nothing of a repository lies.
 */
export function commandChannel(
  words: readonly [string, ...string[]],
  { base, cwd }: { readonly base: Environment; readonly cwd: string },
): Channel {
  const [name, ...args] = words;
  const said = `notify.command (${visible(name, "one-line")})`;
  return {
    name: said,
    async send(notification) {
      const program = name.startsWith("/") ? name : findProgram(name, base["PATH"] ?? "");
      if (program === undefined) return err(`${said} is not on PATH.`);
      const exit = await run({
        argv: [program, ...args, notification.title, notification.message],
        cwd,
        env: {
          ...base,
          GUARDLOOP_KIND: notification.kind,
          GUARDLOOP_RUN: notification.run ?? "",
          GUARDLOOP_TASK: notification.task ?? "",
        },
        stdin: `${JSON.stringify(notification)}\n`,
        deadlineMs: DEADLINE_MS,
        maxOutputBytes: MAX_OUTPUT_BYTES,
      });
      if (!exit.ok) return err(`${said} could not be started (${exit.error.reason}).`);
      if (exit.value.ended === "deadline")
        return err(`${said} did not end within ${DEADLINE_MS / 1000} seconds and was ended.`);
      if (exit.value.code === 0) return ok(undefined);
      const how =
        exit.value.code === null
          ? `was ended by ${exit.value.signal ?? "a signal"}`
          : `ended with status ${exit.value.code}`;
      return err(`${said} ${how}${lastWords(exit.value.stderr)}.`);
    },
  };
}

/** The last line it said, for the sentence. */
function lastWords(stderr: Buffer): string {
  const line = stderr.toString("utf8").trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${visible(line.slice(0, 300), "one-line").replace(/\.$/, "")}`;
}
