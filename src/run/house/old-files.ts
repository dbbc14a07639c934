import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "../../core/result.ts";
import type { HouseItem, HouseKind, Survey } from "./item.ts";
import { NOTHING } from "./item.ts";
import { type HouseServices, isPast, sizeOf } from "./services.ts";
import { throwAway } from "./trash.ts";

/** A build of the image ends within hours; what is older was left by one that was killed. */
const BUILD_DAYS = 2;

/** Damaged histories that recovery kept aside, once they are as old as a record may get. */
export function surveyHistories(services: HouseServices): Promise<Survey> {
  return surveyOld(services, {
    kind: "history",
    directory: services.env.stateDir,
    name: /^history\.db\.damaged-/,
    days: services.retention.recordDays,
    why: "a damaged history was kept aside, and is older than retention.record_days",
  });
}

/** Room of image builds that never ended; a build cleans up behind itself. */
export function surveyImageBuilds(services: HouseServices): Promise<Survey> {
  return surveyOld(services, {
    kind: "image build",
    directory: join(services.env.stateDir, "image-build"),
    name: /^image-/,
    days: BUILD_DAYS,
    why: "an image build that was killed left it",
  });
}

interface Old {
  readonly kind: HouseKind;
  readonly directory: string;
  readonly name: RegExp;
  /** Since the last change. */
  readonly days: number;
  readonly why: string;
}

async function surveyOld(services: HouseServices, old: Old): Promise<Survey> {
  const names = await readdir(old.directory).catch(() => []);
  const items: HouseItem[] = [];
  for (const name of names.filter((one) => old.name.test(one))) {
    const path = join(old.directory, name);
    const isOld = async (): Promise<boolean> => {
      const stat = await lstat(path).catch(() => undefined);
      return stat !== undefined && isPast(stat.mtimeMs, old.days, services.now());
    };
    if (!(await isOld())) continue;
    items.push({
      kind: old.kind,
      what: path,
      run: null,
      repository: null,
      why: old.why,
      size: await sizeOf(path),
      when: "any-time",
      remove: async () => {
        if (!(await isOld())) return ok("kept");
        const gone = await throwAway(services.env.stateDir, path);
        return ok(gone === "gone" ? "kept" : "removed");
      },
    });
  }
  return { ...NOTHING, items };
}
