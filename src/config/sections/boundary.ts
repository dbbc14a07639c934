import { z } from "zod";
import { setting } from "../setting.ts";
import { repositoryPath } from "../text-schemas.ts";

export const networkMode = setting({
  key: "network.mode",
  guard: "GUARD_NETWORK_MODE",
  flag: { name: "--network", takes: "MODE" },
  kind: "text",
  schema: z.enum(["none", "bridge"]),
  expects: "one of none, bridge",
  standard: "none",
  description: "Network of the container: none (no interface but loopback) or bridge (a real one).",
  loosening: { when: "unless it is none", test: (mode) => mode !== "none" },
});

/** Fractions are allowed; a week is the end. */
const minutes = z
  .number()
  .positive()
  .max(7 * 24 * 60);

export const wallMinutes = setting({
  key: "limits.wall_minutes",
  guard: "GUARD_WALL_MINUTES",
  flag: { name: "--wall-minutes", takes: "N" },
  kind: "number",
  schema: minutes,
  expects: "minutes, more than 0 and at most 10080",
  standard: 60,
  description: "Minutes after which the agent is ended, whatever it does.",
  loosening: { when: "above 60", test: (limit) => limit > 60 },
});

export const idleMinutes = setting({
  key: "limits.idle_minutes",
  guard: "GUARD_IDLE_MINUTES",
  flag: { name: "--idle-minutes", takes: "N" },
  kind: "number",
  schema: minutes,
  expects: "minutes, more than 0 and at most 10080",
  standard: 15,
  description: "Minutes without any output after which the agent is ended.",
  loosening: { when: "above 15", test: (limit) => limit > 15 },
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
