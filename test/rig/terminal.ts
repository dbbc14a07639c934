import { spawn } from "node:child_process";
import { join } from "node:path";
import type { World } from "./world.ts";

const BIN = join(import.meta.dirname, "../../bin/guardloop.js");

export interface TerminalSession {
  /** Presses keys. */
  readonly press: (keys: string) => void;
  /** Everything that was written so far, control sequences included. */
  readonly written: () => string;
  /** Resolves when the program has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly screen: string }>;
}

/** Runs guardloop on a real pseudo-terminal, made by util-linux `script`. */
export function onTerminal(
  world: World,
  args: readonly string[],
  size: { readonly columns: number; readonly rows: number } = { columns: 80, rows: 24 },
): TerminalSession {
  const quoted = [process.execPath, BIN, ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`,
  );
  const command = `stty cols ${size.columns} rows ${size.rows}; exec ${quoted.join(" ")}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: world.repo,
    env: { ...world.env, TERM: "xterm", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return {
    press: (keys) => void child.stdin.write(keys),
    written: () => text,
    ended: new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, screen: screenOf(text) }));
    }),
  };
}

/** What a terminal shows after these bytes: line feeds, carriage returns, cursor up and erase below. */
export function screenOf(text: string): string {
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
