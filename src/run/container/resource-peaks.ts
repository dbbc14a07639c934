import type { ResourcePeaks } from "../../core/run-spec.ts";
import type { Engine } from "../../engine/port.ts";

const FIRST_LOOK_MS = 3_000;
const PAUSE_MS = 10_000;

/** Looks at a container from time to time until it is disposed of. An engine that cannot tell is not asked. */
export function watchResources(engine: Engine, name: string) {
  let peaks: ResourcePeaks | undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const look = async (): Promise<void> => {
    const stats = await engine.stats?.(name);
    if (stats?.ok === true && stats.value !== undefined)
      peaks = {
        cpuPercent: Math.max(peaks?.cpuPercent ?? 0, stats.value.cpuPercent),
        memoryBytes: Math.max(peaks?.memoryBytes ?? 0, stats.value.memoryBytes),
        samples: (peaks?.samples ?? 0) + 1,
      };
    next(PAUSE_MS);
  };
  const next = (pauseMs: number): void => {
    if (!over) timer = setTimeout(() => void look(), pauseMs);
  };
  if (engine.stats !== undefined) next(FIRST_LOOK_MS);
  return {
    seen: (): ResourcePeaks | undefined => peaks,
    [Symbol.dispose](): void {
      over = true;
      clearTimeout(timer);
    },
  };
}
