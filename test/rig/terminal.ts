import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../docs/documents.ts";
import type { World } from "./world.ts";

/** What a person does: waits until a text is on the screen, then types. */
export interface Step {
  readonly after: string;
  readonly type: string;
}

export interface OnTerminal {
  readonly code: number | null;
  /** Everything the terminal got, line ends as the program wrote them. */
  readonly screen: string;
}

export const UP = "\u001B[A";
export const ENTER = "\r";
export const CTRL_C = "\u0003";

/** Runs guardloop on a real terminal of its own, made by script(1) of util-linux, with a person at it. */
export function onTerminal(
  world: World,
  args: readonly string[],
  {
    steps = [],
    env = {},
  }: { readonly steps?: readonly Step[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<OnTerminal> {
  const words = [process.execPath, join(ROOT, "bin/guardloop.js"), ...args];
  const command = `stty cols 160 rows 40; exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`;
  return new Promise((resolve, reject) => {
    const child = spawn("script", ["-q", "-e", "-c", command, "/dev/null"], {
      cwd: world.repo,
      env: { ...world.env, TERM: "xterm", SHELL: "/bin/sh", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let screen = "";
    let read = 0;
    const waiting = [...steps];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
      for (let step = waiting[0]; step !== undefined; step = waiting[0]) {
        const at = screen.indexOf(step.after, read);
        if (at === -1) return;
        read = at + step.after.length;
        waiting.shift();
        child.stdin.write(step.type);
      }
    });
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) => {
      if (waiting.length === 0) resolve({ code, screen: screen.replaceAll("\r\n", "\n") });
      else reject(new Error(`"${waiting[0]?.after ?? ""}" never appeared:\n${screen}`));
    });
  });
}
