// Prints a SHA-256 over the names and bytes of files and directories: node scripts/fingerprint.js PATH…
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const hash = createHash("sha256");

function add(path) {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).toSorted()) add(join(path, name));
    return;
  }
  const bytes = readFileSync(path);
  hash.update(`${path}\0${bytes.length}\0`).update(bytes);
}

for (const path of process.argv.slice(2)) add(path);
process.stdout.write(`${hash.digest("hex")}\n`);
