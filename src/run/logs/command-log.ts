import { rm } from "node:fs/promises";
import { LIMITS } from "../../core/limits.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { RunServices } from "../services.ts";
import { boundedLog } from "./bounded-log.ts";
import { TEXT_MARK } from "./cut-mark.ts";
import { redactorInUse } from "./redactions-in-use.ts";
import type { Redactor } from "./redactor.ts";

export type CommandLog = Awaited<ReturnType<typeof commandLog>>;

/** Keeps what commands of the project print, bounded and without credentials in use; an earlier log is gone. */
export async function commandLog(
  services: RunServices,
  spec: RunSpec,
  { path, of }: { readonly path: string; readonly of: "validation" | "setup" },
) {
  await rm(path, { force: true });
  const redactor = await redactorInUse(services, spec);
  const limitBytes = spec.limits.logBytes ?? LIMITS.agentLogBytes;
  const onTrouble = (reason: string): void => {
    const text = `The log of the ${of} cannot be written (${reason}); the ${of} goes on without it. Look at the disk of ${services.env.stateDir}.`;
    services.report({ type: "notice", runId: spec.runId, text });
  };
  const log = boundedLog({ path, limitBytes, mark: TEXT_MARK, onTrouble });
  return {
    /** For one command after another. */
    begin(head: string) {
      log.add(Buffer.from(redactor.text(head)));
      return cleanOutput(
        redactor,
        (clean) => log.add(clean),
        () => log.settle(),
      );
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

function cleanOutput(
  redactor: Redactor,
  write: (clean: Buffer) => void,
  settle: () => Promise<void>,
) {
  const streams = { stdout: redactor.stream(), stderr: redactor.stream() };
  return {
    add: (stream: "stdout" | "stderr", chunk: Buffer): void => write(streams[stream].add(chunk)),
    async end(): Promise<void> {
      for (const stream of Object.values(streams)) write(stream.end());
      await settle();
    },
  };
}
