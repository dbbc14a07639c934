import { z } from "zod";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Engine } from "../../engine/port.ts";
import { type CheckedImage, checkingSpec } from "./image-check.ts";

/** What an image says of an agent's program. */
export interface AgentInImage {
  readonly found: "yes" | "no";
  /** Its own words about its version, in one line; null where it says none. Untrusted. */
  readonly version: string | null;
}

const ANSWER = z.object({ there: z.boolean(), line: z.string().max(200).nullable() });

/**
 * Looks for an agent's program by asking it for its version, in a container without a network or anything of the user's.
 *
 * @param at `versionArgv` prints the version and ends; not empty.
 */
export async function agentInImage(
  engine: Engine,
  at: {
    readonly image: CheckedImage;
    readonly stateDir: string;
    readonly versionArgv: readonly string[];
  },
): Promise<Result<AgentInImage, Failure>> {
  const spec = checkingSpec({
    purpose: "agent-check",
    image: at.image,
    stateDir: at.stateDir,
    script: scriptFor(at.versionArgv),
  });
  const chunks: Buffer[] = [];
  const end = await engine.run(
    spec,
    { onOutput: (stream, chunk) => stream === "stdout" && chunks.push(chunk) },
    {},
  );
  if (!end.ok) return end;
  const answer = ANSWER.safeParse(parsed(Buffer.concat(chunks).toString("utf8")));
  if (!answer.success) return ok({ found: "no", version: null });
  const { there, line } = answer.data;
  return ok({ found: there ? "yes" : "no", version: line === "" ? null : line });
}

function scriptFor([program = "", ...args]: readonly string[]): string {
  return `
const { spawnSync } = require("node:child_process");
const said = spawnSync(${JSON.stringify(program)}, ${JSON.stringify(args)}, { encoding: "utf8", timeout: 30000 });
const [line = ""] = (said.stdout ?? "").split("\\n");
console.log(JSON.stringify({ there: said.error?.code !== "ENOENT", line: said.status === 0 ? line.trim().slice(0, 200) : null }));
`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
