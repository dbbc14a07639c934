import { z } from "zod";
import { setting } from "../setting.ts";
import { sizeSchema } from "../size.ts";
import { emptyOr } from "../text-schemas.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const STANDARD_IMAGE = "guardloop-agent";

export const engine = setting({
  key: "container.engine",
  guard: "GUARD_ENGINE",
  flag: { name: "--engine", takes: "NAME" },
  kind: "text",
  schema: z.enum(["docker", "podman", "auto"]),
  expects: "one of docker, podman, auto",
  standard: "auto",
  description: "Engine that runs the container; auto takes Docker when it answers, else Podman.",
  loosening: { when: "unless it is auto", test: (name) => name !== "auto" },
});

export const runtime = setting({
  key: "container.runtime",
  guard: "GUARD_RUNTIME",
  flag: { name: "--runtime", takes: "NAME" },
  kind: "text",
  // No slash: a path would be a program of the host that the engine starts.
  schema: emptyOr(
    z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
  ),
  expects: "the name of an OCI runtime that the engine knows, for example runsc",
  standard: "",
  description: "OCI runtime of the engine, for example runsc (gVisor); empty takes its default.",
  loosening: { when: "for any value", test: (name) => name !== undefined },
});

export const maxOnHost = setting({
  key: "container.max_on_host",
  guard: "GUARD_MAX_CONTAINERS",
  flag: { name: "--max-containers", takes: "N" },
  kind: "number",
  schema: z.int().min(0).max(1000),
  expects: "a whole number from 0 to 1000",
  standard: 0,
  description: "Containers of all your runs at once; 0 for as many as fit into the host's memory.",
  loosening: { when: "unless it is 0", test: (limit) => limit !== 0 },
});

export const image = setting({
  key: "container.image",
  guard: "GUARD_IMAGE",
  flag: { name: "--image", takes: "NAME" },
  kind: "text",
  // The first character keeps it from being read as an option of the engine.
  schema: z
    .string()
    .max(255)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._/:@-]*$/),
  expects: "the name of an image, for example guardloop-agent or node:22",
  standard: STANDARD_IMAGE,
  description: "Image the agent runs in; it needs Git and Node 18 or newer.",
  loosening: { when: "for any other image", test: (name) => name !== STANDARD_IMAGE },
});

export const memory = setting({
  key: "container.memory",
  guard: "GUARD_MEMORY",
  flag: { name: "--memory", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(16 * MIB),
  expects: 'a size of 16m or more, for example "4g"',
  standard: "4g",
  description: "Memory of the container; there is no swap on top.",
  loosening: { when: "above 4g", test: (bytes) => bytes > 4 * GIB },
});

export const cpus = setting({
  key: "container.cpus",
  guard: "GUARD_CPUS",
  flag: { name: "--cpus", takes: "N" },
  kind: "number",
  schema: z.number().min(0.1).max(4096),
  expects: "a number of 0.1 or more, for example 4",
  standard: 4,
  description: "Processors of the container; fractions are allowed.",
  loosening: { when: "above 4", test: (count) => count > 4 },
});

export const pids = setting({
  key: "container.pids",
  guard: "GUARD_PIDS",
  flag: { name: "--pids", takes: "N" },
  kind: "number",
  schema: z.int().min(16).max(4_194_304),
  expects: "a whole number from 16 to 4194304",
  standard: 512,
  description: "Processes and threads the container may have at once.",
  loosening: { when: "above 512", test: (count) => count > 512 },
});

export const tmp = setting({
  key: "container.tmp",
  guard: "GUARD_TMP",
  flag: { name: "--tmp", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(MIB),
  expects: 'a size of 1m or more, for example "1g"',
  standard: "1g",
  description: "Size of /tmp, which lives in memory.",
  loosening: { when: "above 1g", test: (bytes) => bytes > GIB },
});

export const home = setting({
  key: "container.home",
  guard: "GUARD_HOME",
  flag: { name: "--home", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(MIB),
  expects: 'a size of 1m or more, for example "512m"',
  standard: "512m",
  description: "Size of the agent's home directory, which lives in memory.",
  loosening: { when: "above 512m", test: (bytes) => bytes > 512 * MIB },
});
