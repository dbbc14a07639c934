import { resolve } from "node:path";
import { GUEST_EXIT } from "./exit-status.ts";
import { readJob } from "./job.ts";
import { type RelayPlace, askedRelay } from "./relay-arguments.ts";
import { runJob } from "./run-job.ts";
import { sayOn, writeOnStderr } from "./say.ts";
import { listenForStop } from "./stop-request.ts";

// The guest: the first program of ours in a container. Started as `node guest.cjs job.json`; it starts itself again as
// `node guest.cjs relay PORT SOCKET`.
const [, bundle = "", ...words] = process.argv;
const relay = askedRelay(words);
if (relay === undefined) void runGuest(words[0] ?? "");
else void relayUntilEnd(relay);

async function relayUntilEnd(place: RelayPlace): Promise<void> {
  const { runRelay } = await import("./relay.ts");
  process.stdin.once("end", () => process.kill(process.pid, "SIGTERM")).resume();
  runRelay(place, () => process.stdout.write("listening\n"));
}

async function runGuest(jobPath: string): Promise<void> {
  const say = sayOn(writeOnStderr);
  const stop = listenForStop();
  const job = readJob(resolve(jobPath));
  if (!job.ok) {
    say(job.error);
    process.exitCode = GUEST_EXIT.refused;
    return;
  }
  // The engine built this environment from the run spec; the agent's is made of it.
  // oxlint-disable-next-line node/no-process-env -- the guest has no configuration to go through
  const { env } = process;
  process.exitCode = await runJob(job.value, { env, bundle: resolve(bundle), say, stop });
}
