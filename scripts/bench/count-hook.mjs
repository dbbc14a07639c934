// Loaded into guardloop by Node (`--import`): writes down every program it starts, and its own peak of memory. Lines of
// JSON in the file that BENCH_COUNTS names: { at, ms, argv } in milliseconds since the start, and { peakKib } at the end.
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.BENCH_COUNTS ?? "/dev/null";
const { spawn } = childProcess;

childProcess.spawn = (program, args, options) => {
  const at = performance.now();
  const child = spawn(program, args, options);
  child.on("close", () => {
    const ms = Math.round(performance.now() - at);
    appendFileSync(
      file,
      `${JSON.stringify({ at: Math.round(at), ms, argv: [program, ...args] })}\n`,
    );
  });
  return child;
};
syncBuiltinESMExports();
process.on("exit", () => {
  appendFileSync(file, `${JSON.stringify({ peakKib: process.resourceUsage().maxRSS })}\n`);
});
