// Looks at processes and directories from outside, through /proc and du. Where there is no /proc there are no numbers.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";

const EVERY_MS = 50;

/** The most memory that a process and its descendants had together, in KiB, from now until `end`. */
export function watchTree(pid) {
  let peakKib = 0;
  const timer = setInterval(() => {
    peakKib = Math.max(peakKib, treeKib(pid));
  }, EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      return peakKib === 0 ? null : peakKib;
    },
  };
}

function treeKib(root) {
  const parents = new Map();
  for (const name of processes()) {
    const fields = stat(name);
    if (fields !== undefined) parents.set(Number(name), fields);
  }
  let total = 0;
  for (const [pid, { pages }] of parents) if (descends(parents, pid, root)) total += pages * 4;
  return total;
}

function descends(parents, pid, root) {
  for (let at = pid; at !== undefined && at > 1; at = parents.get(at)?.parent)
    if (at === root) return true;
  return false;
}

function stat(name) {
  const text = read(`/proc/${name}/stat`);
  // The second field is the program's name in parentheses and may hold spaces; count from behind it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.length > 21 ? { parent: Number(fields[1]), pages: Number(fields[21]) } : undefined;
}

/** Resident memory of one process now, in KiB; undefined where it cannot be told. */
export function residentKib(pid) {
  const kib = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? undefined : Number(kib);
}

/** Waits until no process has this directory in its arguments, and says for how long. */
export async function settled(directory, { limitMs = 120_000 } = {}) {
  const from = performance.now();
  while (
    performance.now() - from < limitMs &&
    processes().some((name) => mentions(name, directory))
  )
    await new Promise((resolve) => setTimeout(resolve, 20));
  return performance.now() - from;
}

function mentions(name, directory) {
  return name !== String(process.pid) && read(`/proc/${name}/cmdline`).includes(directory);
}

function processes() {
  return existsSync("/proc/self") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** What directories take on the disk, in KiB; those that are not there take nothing. */
export function diskKib(...directories) {
  const there = directories.filter((one) => existsSync(one));
  if (there.length === 0) return 0;
  // A file that goes while du looks makes it complain, and does not matter.
  const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  let output;
  try {
    output = execFileSync("du", ["-skc", ...there], options);
  } catch (error) {
    output = error.stdout;
  }
  return Number(/^(\d+)\ttotal$/m.exec(output)?.[1] ?? 0);
}
