import { z } from "zod";
import { DAY_MINUTES, minutesUpTo } from "../minutes.ts";
import { setting } from "../setting.ts";
import { oneLine, repositoryPath } from "../text-schemas.ts";

/** A host name, or `*.` and a suffix of at least two labels; no address, no port. */
const HOST =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const hosts = z.array(
  z
    .string()
    .max(253)
    .transform((name) => name.toLowerCase())
    .refine((name) => HOST.test(name)),
);
const EXPECTS_HOSTS = "host names such as packages.example.org, or *.example.org for all below it";

export const allowHosts = setting({
  key: "network.allow_hosts",
  guard: "GUARD_ALLOW_HOSTS",
  flag: { name: "--allow-host", takes: "HOST" },
  kind: "list",
  schema: hosts,
  expects: EXPECTS_HOSTS,
  standard: [],
  description: "Hosts the agent itself may reach by HTTPS, through the gateway's proxy.",
  loosening: { when: "for any value", test: (names) => names.length > 0 },
});

export const setupCommands = setting({
  key: "setup.commands",
  guard: "GUARD_SETUP",
  flag: { name: "--setup", takes: "COMMAND" },
  kind: "lines",
  schema: z.array(oneLine(4000)),
  expects: "shell commands, for example `npm ci --ignore-scripts`",
  standard: [],
  description: "Commands that fetch what the project depends on, in a container without the agent.",
  loosening: { when: "for any value", test: (commands) => commands.length > 0 },
});

export const setupHosts = setting({
  key: "setup.allow_hosts",
  guard: "GUARD_SETUP_HOSTS",
  flag: { name: "--setup-host", takes: "HOST" },
  kind: "list",
  schema: hosts,
  expects: EXPECTS_HOSTS,
  standard: [],
  description: "Hosts the setup commands may reach by HTTPS.",
  loosening: { when: "for any value", test: (names) => names.length > 0 },
});

/** What package managers go by. */
const USUAL_LOCKFILES = [
  "**/package.json",
  "**/package-lock.json",
  "**/npm-shrinkwrap.json",
  "**/yarn.lock",
  "**/pnpm-lock.yaml",
  "**/.npmrc",
  "**/requirements*.txt",
  "**/pyproject.toml",
  "**/poetry.lock",
  "**/uv.lock",
  "**/Pipfile.lock",
  "**/Cargo.lock",
  "**/Cargo.toml",
  "**/go.mod",
  "**/go.sum",
  "**/Gemfile.lock",
  "**/composer.lock",
] as const;

export const setupLockfiles = setting({
  key: "setup.lockfiles",
  guard: "GUARD_SETUP_LOCKFILES",
  flag: { name: "--setup-lockfile", takes: "GLOB" },
  kind: "list",
  schema: z
    .array(repositoryPath())
    .transform((globs): readonly string[] => (globs.length === 0 ? USUAL_LOCKFILES : globs)),
  expects: "globs relative to the repository's root",
  standard: [],
  description:
    "Files that decide what setup fetches; empty for the usual manifests and lock files.",
  loosening: "never",
});

export const setupKeep = setting({
  key: "setup.keep",
  guard: "GUARD_SETUP_KEEP",
  flag: { name: "--setup-keep", takes: "GLOB" },
  kind: "list",
  schema: z.array(repositoryPath()),
  expects: "globs relative to the repository's root",
  standard: [],
  description: "What of setup's work tree is kept; empty for everything that Git does not track.",
  loosening: "never",
});

export const setupMinutes = setting({
  key: "setup.minutes",
  guard: "GUARD_SETUP_MINUTES",
  flag: { name: "--setup-minutes", takes: "N" },
  kind: "number",
  ...minutesUpTo(DAY_MINUTES),
  standard: 30,
  description: "Minutes that all setup commands together may take.",
  loosening: { when: "above 30", test: (limit) => limit > 30 },
});

export const cacheDirectories = setting({
  key: "cache.directories",
  guard: "GUARD_CACHE",
  flag: { name: "--cache", takes: "DIRECTORY" },
  kind: "list",
  schema: z.array(
    oneLine(200)
      .regex(/^[A-Za-z0-9._/-]+$/)
      .refine((path) =>
        path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
      ),
  ),
  expects: "directories below the home directory, for example .npm or .cache/pip",
  standard: [],
  description: "Caches of package managers, kept for the repository: setup writes, runs only read.",
  loosening: { when: "for any value", test: (paths) => paths.length > 0 },
});
