// The machine that was measured on, without its name and without its paths.
import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, tmpdir, totalmem, type } from "node:os";

export function describeMachine(engine) {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release().split("-")[0]}`,
    fileSystem: fileSystem(tmpdir()),
    engine: `${engine} ${ask(engine, ["version", "--format", "{{.Server.Version}}"])}`,
    storage: ask(engine, [
      "info",
      "--format",
      engine === "docker" ? "{{.Driver}}" : "{{.Store.GraphDriverName}}",
    ]),
    git: ask("git", ["--version"]).replace(/^git version /, ""),
    node: process.version,
    user: process.getuid?.() === 0 ? "root" : "ordinary",
    load: Math.round(loadavg()[0] * 10) / 10,
  };
}

/** The type alone: where it is mounted is this machine's. */
function fileSystem(path) {
  try {
    const rows = execFileSync("df", ["-PT", path], { encoding: "utf8" }).trim().split("\n");
    return rows[1]?.split(/\s+/)[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}

function ask(program, args) {
  try {
    const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync(program, args, options).trim() || "unknown";
  } catch {
    return "unknown";
  }
}

export function machineText(machine) {
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB of memory`,
    `${machine.kernel}, ${machine.fileSystem}`,
    `${machine.engine} (${machine.storage}), Git ${machine.git}, Node ${machine.node}`,
    machine.user === "root" ? "as root" : "as an ordinary user",
    `load ${machine.load} when it began`,
  ].join("; ");
}
