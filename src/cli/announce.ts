import { exposureOf } from "../run/choice/exposure.ts";
import { NO_FILES } from "../run/snapshot/files-seen.ts";
import type { Call } from "./define.ts";
import { engineText } from "./output/engine.ts";
import { shortExposure } from "./output/exposure.ts";
import { bold, dim } from "./output/text.ts";
import type { PreparedRun } from "./prepare-run.ts";

/** Says before anything starts what is opened: the short form of `guardloop explain`. */
export function announce(
  { context: { output }, format }: Call,
  { invocation, leases, secretPaths }: PreparedRun,
): void {
  if (format === "json") return;
  const { settings, engine } = invocation;
  const exposure = exposureOf({
    settings,
    adapters: invocation.agents.map(({ adapter }) => adapter),
    // Of what may not be known, the run itself will tell.
    files: { ...NO_FILES, inCommit: secretPaths?.ok === true ? secretPaths.value : [] },
    engine: engine.kind,
  });
  for (const line of shortExposure(exposure)) output.progress(line);
  if (settings.run.promote === "auto")
    output.progress(
      bold(
        "Promote auto: what an agent made lands in your checkout without anybody having looked at it.",
      ),
    );
  output.progress(
    dim(
      `Engine: ${engineText(engine)}. Image: ${settings.container.image}. Leases: ${leases.description}.`,
    ),
  );
}
