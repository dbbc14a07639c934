// Adds gVisor's runtime to Docker's configuration, leaving the rest as it is: node scripts/add-gvisor.js FILE RUNSC
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const [, , file, program] = process.argv;
const config = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
config.runtimes = {
  ...config.runtimes,
  // ptrace works on every machine; a test container never has a network. The gateway is reached through a socket.
  runsc: { path: program, runtimeArgs: ["--platform=ptrace", "--network=none", "--host-uds=open"] },
};
mkdirSync(dirname(file), { recursive: true });
writeFileSync(`${file}.new`, `${JSON.stringify(config, null, 2)}\n`);
renameSync(`${file}.new`, file);
