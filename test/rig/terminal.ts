import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../docs/documents.ts";
import type { World } from "./world.ts";

export const UP = "\u001B[A";
export const ENTER = "\r";
export const CTRL_C = "\u0003";

interface TerminalOptions {
  readonly size?: { readonly columns: number; readonly rows: number };
  readonly env?: Readonly<Record<string, string>>;
}

export interface TerminalSession {
  /** Presses keys. */
  readonly press: (keys: string) => void;
  /** Everything that was written so far, control sequences included. */
  readonly written: () => string;
  /** Calls back with all of it whenever there is more. */
  readonly onWritten: (see: (written: string) => void) => void;
  /** Resolves when the program has ended, with what the terminal shows then. */
  readonly ended: Promise<{ readonly code: number | null; readonly screen: string }>;
}

/** Starts guardloop on a real terminal of its own, made by script(1) of util-linux. */
export function openTerminal(
  world: World,
  args: readonly string[],
  { size = { columns: 80, rows: 24 }, env = {} }: TerminalOptions = {},
): TerminalSession {
  const words = [process.execPath, join(ROOT, "bin/guardloop.js"), ...args];
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const command = `stty cols ${size.columns} rows ${size.rows}; exec ${quoted}`;
  const child = spawn("script", ["-q", "-e", "-f", "-c", command, "/dev/null"], {
    cwd: world.repo,
    env: { ...world.env, TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const seeing: ((written: string) => void)[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    for (const see of seeing) see(text);
  });
  // A key that is pressed when the program has just ended goes nowhere.
  child.stdin.on("error", () => undefined);
  return {
    press: (keys) => void child.stdin.write(keys),
    written: () => text,
    onWritten: (see) => void seeing.push(see),
    ended: new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, screen: screenOf(text) }));
    }),
  };
}

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

/** Runs guardloop on a terminal to its end, with a person at it. */
export async function onTerminal(
  world: World,
  args: readonly string[],
  {
    steps = [],
    env = {},
  }: { readonly steps?: readonly Step[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<OnTerminal> {
  const session = openTerminal(world, args, { size: { columns: 160, rows: 40 }, env });
  const waiting = [...steps];
  let read = 0;
  session.onWritten((written) => {
    for (let step = waiting[0]; step !== undefined; step = waiting[0]) {
      const at = written.indexOf(step.after, read);
      if (at === -1) return;
      read = at + step.after.length;
      waiting.shift();
      session.press(step.type);
    }
  });
  const { code } = await session.ended;
  const screen = session.written();
  if (waiting.length > 0)
    throw new Error(`"${waiting[0]?.after ?? ""}" never appeared:\n${screen}`);
  return { code, screen: screen.replaceAll("\r\n", "\n") };
}

/** What a terminal shows after these bytes: line feeds, carriage returns, cursor up and erase below. */
function screenOf(text: string): string {
  const lines = [""];
  let row = 0;
  // oxlint-disable-next-line no-control-regex
  for (const [token, count, command] of text.matchAll(/\u001B\[(\d*)([A-Za-z])|[^]/gu)) {
    if (command === "A") row = Math.max(0, row - Number(count === "" ? 1 : count));
    else if (command === "J") lines.splice(row, Infinity, "");
    else if (token === "\n") row += 1;
    else if (command === undefined && token !== "\r") lines[row] = (lines[row] ?? "") + token;
    for (let at = lines.length; at <= row; at += 1) lines.push("");
  }
  return lines.join("\n");
}
