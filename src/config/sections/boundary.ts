import { z } from "zod";
import { NETWORK_MODES } from "../../core/network.ts";
import { DAY_MINUTES, minutesUpTo } from "../minutes.ts";
import { setting } from "../setting.ts";
import { sizeSchema } from "../size.ts";
import { repositoryPath } from "../text-schemas.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

export const networkMode = setting({
  key: "network.mode",
  guard: "GUARD_NETWORK_MODE",
  flag: { name: "--network", takes: "MODE" },
  kind: "text",
  schema: z.enum(NETWORK_MODES),
  expects: "one of none, gateway, bridge",
  standard: "none",
  description:
    "What the container reaches: none, gateway (the model API alone) or bridge (everything).",
  loosening: { when: "unless it is none", test: (mode) => mode !== "none" },
});

/** A week is the end. */
const minutes = minutesUpTo(7 * DAY_MINUTES);

export const wallMinutes = setting({
  key: "limits.wall_minutes",
  guard: "GUARD_WALL_MINUTES",
  flag: { name: "--wall-minutes", takes: "N" },
  kind: "number",
  ...minutes,
  standard: 60,
  description: "Minutes after which the agent is ended, whatever it does.",
  loosening: { when: "above 60", test: (limit) => limit > 60 },
});

export const idleMinutes = setting({
  key: "limits.idle_minutes",
  guard: "GUARD_IDLE_MINUTES",
  flag: { name: "--idle-minutes", takes: "N" },
  kind: "number",
  ...minutes,
  standard: 15,
  description: "Minutes without any output after which the agent is ended.",
  loosening: { when: "above 15", test: (limit) => limit > 15 },
});

export const logSize = setting({
  key: "limits.log",
  guard: "GUARD_LOG_SIZE",
  flag: { name: "--log-size", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(MIB),
  expects: 'a size of 1m or more, for example "64m"',
  standard: "64m",
  description:
    "Size of each log of a run: of the agent's output, of its events; when full, its middle is cut.",
  loosening: { when: "above 64m", test: (bytes) => bytes > 64 * MIB },
});

export const completionMinutes = setting({
  key: "limits.completion_minutes",
  guard: "GUARD_COMPLETION_MINUTES",
  flag: { name: "--completion-minutes", takes: "N" },
  kind: "number",
  ...minutes,
  standard: 5,
  description: "Minutes an agent that is done, and then the export of its work, may take to end.",
  loosening: { when: "above 5", test: (limit) => limit > 5 },
});

export const disk = setting({
  key: "limits.disk",
  guard: "GUARD_DISK",
  flag: { name: "--disk", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(MIB),
  expects: 'a size of 1m or more, for example "10g"',
  standard: "10g",
  description: "How much the snapshot may grow on the disk before the agent is ended.",
  loosening: { when: "above 10g", test: (bytes) => bytes > 10 * GIB },
});

const STANDARD_FILES = 1_000_000;

export const files = setting({
  key: "limits.files",
  guard: "GUARD_FILES",
  flag: { name: "--files", takes: "N" },
  kind: "number",
  schema: z.int().min(1).max(1_000_000_000),
  expects: "a whole number from 1 to 1000000000",
  standard: STANDARD_FILES,
  description: "How many files and directories the snapshot may gain before the agent is ended.",
  loosening: { when: `above ${STANDARD_FILES}`, test: (count) => count > STANDARD_FILES },
});

export const snapshotMethod = setting({
  key: "snapshot.method",
  guard: "GUARD_SNAPSHOT_METHOD",
  flag: { name: "--snapshot-method", takes: "METHOD" },
  kind: "text",
  schema: z.enum(["auto", "overlay", "reflink", "copy"]),
  expects: "one of auto, overlay, reflink, copy",
  standard: "auto",
  description:
    "How the container gets its files: over kept layers, by clones, or copied; auto takes the quickest that works.",
  loosening: "never",
});

export const overlayInclude = setting({
  key: "overlay.include",
  guard: "GUARD_OVERLAY",
  flag: { name: "--overlay", takes: "GLOB" },
  kind: "list",
  schema: z.array(repositoryPath()),
  expects: "globs relative to the repository's root",
  standard: [],
  description: "Files Git does not track that the agent gets to see: globs from the root.",
  loosening: { when: "for any value", test: (globs) => globs.length > 0 },
});
