// Loaded into guardloop by `node --import`: writes every program that it starts into the file SPAWN_RECORD, a line each.
import childProcess from "node:child_process";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { spawn } = childProcess;
childProcess.spawn = (program, args, ...rest) => {
  const line = [program, ...args].join(" ").replaceAll("\n", " ");
  // Settings that every call of Git has say nothing.
  const short = line.replace(/.* ?(\S*\/git) --no-pager(?: -c \S+)*/, "$1");
  appendFileSync(process.env.SPAWN_RECORD, `${short}\n`);
  return spawn(program, args, ...rest);
};
syncBuiltinESMExports();
