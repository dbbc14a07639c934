import { readFile } from "node:fs/promises";
import { type Failure, failure } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { findProgram } from "../../process/find-program.ts";
import type { Stepper } from "./step.ts";

const APT_MS = 10 * 60_000;

/** Absolute paths of what the build from Debian packages runs. */
export interface DebianTools {
  readonly debootstrap: string;
  readonly tar: string;
  readonly npm: string;
  readonly sh: string;
}

/**
 * Finds the tools, installing debootstrap as root on Debian or Ubuntu when it is missing, which it says first.
 * Without root it fails before anything is looked for: debootstrap makes files of many owners.
 */
export async function debianTools(
  steps: Stepper,
  onProgress: (line: string) => void,
): Promise<Result<DebianTools, Failure>> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return err(
      failure(
        "image-missing",
        "The agent image was not built: no image registry can be reached, and making it from Debian packages needs root.",
        { cure: "Run `guardloop image build` once as root, or where an image registry answers." },
      ),
    );
  }
  if (findProgram("debootstrap", steps.path) === undefined) {
    const installed = await installDebootstrap(steps, onProgress);
    if (!installed.ok) return installed;
  }
  const missing: string[] = [];
  const need = (name: string): string => {
    const found = findProgram(name, steps.path);
    if (found === undefined) missing.push(name);
    return found ?? name;
  };
  const tools = {
    debootstrap: need("debootstrap"),
    tar: need("tar"),
    npm: need("npm"),
    sh: need("sh"),
  };
  return missing.length === 0 ? ok(tools) : err(toolMissing(missing));
}

async function installDebootstrap(
  steps: Stepper,
  onProgress: (line: string) => void,
): Promise<Result<void, Failure>> {
  const aptGet = findProgram("apt-get", steps.path);
  if (aptGet === undefined || !(await isDebianFamily())) return err(toolMissing(["debootstrap"]));
  onProgress("Installing debootstrap with apt-get: it makes the image's file system");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const update = await steps.attempt({
    program: aptGet,
    args: ["update"],
    deadlineMs: APT_MS,
    env,
  });
  if (!update.ok) return update;
  // The keyring lets Ubuntu's debootstrap check Debian's signatures.
  const packages = ["debootstrap", "debian-archive-keyring"];
  const install = await steps.must("`apt-get install debootstrap`", {
    program: aptGet,
    args: ["install", "--yes", "--no-install-recommends", ...packages],
    deadlineMs: APT_MS,
    env,
  });
  return install.ok ? ok(undefined) : install;
}

async function isDebianFamily(): Promise<boolean> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(text);
}

function toolMissing(names: readonly string[]): Failure {
  return failure(
    "tool-missing",
    `The agent image was not built: ${names.join(", ")} not found on PATH.`,
    { cure: `Install ${names.join(", ")}, then run \`guardloop image build\` again.` },
  );
}
