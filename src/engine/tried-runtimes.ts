/** OCI runtimes in which the contract tests hold; see docs/engines.md. */
const TRIED: ReadonlySet<string> = new Set(["runc", "crun", "runsc", "io.containerd.runc.v2"]);

/** A sentence about a runtime of which nobody has shown that it keeps the posture; empty for the others. */
export function notTried(runtime: string): readonly string[] {
  if (TRIED.has(runtime) || runtime === "unknown") return [];
  return [
    `The runtime ${runtime} has not been tried with guardloop: nothing shows that it keeps the container's posture.`,
  ];
}
