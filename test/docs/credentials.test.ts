import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { FlagValues } from "../../src/config/text-layer.ts";
import { NETWORK_MODES, type NetworkMode } from "../../src/core/network.ts";
import { metadataReach } from "../../src/engine/cloud-metadata.ts";
import { type Exposure, LEAKS, READS, REACHES, exposureOf } from "../../src/run/choice/exposure.ts";
import { NO_FILES } from "../../src/run/snapshot/files-seen.ts";
import { loaded } from "../config/load-rig.ts";
import { codesIn, readDocument, tableWith } from "./documents.ts";

const document = readDocument("docs/credentials.md");

/** Every setting that a cell may name, switched on. */
const SWITCHES: FlagValues = {
  "overlay.include": ["notes/*"],
  "agent.pass_env": ["TOKEN"],
  "setup.commands": ["npm ci"],
  "cache.directories": [".npm"],
  "gateway.server_tools": ["web_search"],
  "network.allow_hosts": ["packages.example.org"],
};

function exposed(mode: NetworkMode, flags: FlagValues): Exposure {
  const { settings } = loaded({ flags: { ...flags, "network.mode": mode } });
  return exposureOf({
    settings,
    // Without a network a hosted agent would be refused.
    adapters: [agentAdapter(mode === "none" ? "command" : "codex")],
    files: NO_FILES,
    engine: "docker",
  });
}

type Names = (exposure: Exposure) => readonly string[];

/** What a cell should say: by the model with nothing set, and with one setting after another. */
function cellOf(mode: NetworkMode, name: string, names: Names): string {
  if (names(exposed(mode, {})).includes(name)) return "yes";
  const switches = Object.entries(SWITCHES).filter(([key, value]) =>
    names(exposed(mode, { [key]: value })).includes(name),
  );
  return switches.length === 0 ? "no" : `when ${switches.map(([key]) => `\`${key}\``).join(", ")}`;
}

describe("docs/credentials.md", () => {
  test.each([
    ["can read", READS, (exposure: Exposure) => exposure.reads.map(({ what }) => what)],
    ["can reach", REACHES, (exposure: Exposure) => exposure.reaches.map(({ what }) => what)],
    ["can leak to", LEAKS, (exposure: Exposure) => exposure.leaks.map(({ what }) => what)],
    [
      "credential",
      ["host", "container"],
      (exposure: Exposure) => exposure.credentials.map(({ where }) => where),
    ],
  ] as const)("what it %s in each mode is what the code computes", (head, all, names) => {
    const table = tableWith(document, head);
    expect(table.head.slice(2)).toEqual(NETWORK_MODES.map((mode) => `\`${mode}\``));
    expect(table.rows).toEqual(
      all.map((name, index) => [
        `\`${name}\``,
        // The words are for people.
        table.rows[index]?.[1],
        ...NETWORK_MODES.map((mode) => cellOf(mode, name, names)),
      ]),
    );
  });

  test("names every address and name of cloud metadata, those that are closed and those that are not", () => {
    const { blocked, inReach } = metadataReach("docker");
    const codes = codesIn(document.text);
    expect([...blocked, ...inReach].filter((one) => !codes.includes(one))).toEqual([]);
  });

  test("names the variables that a program of the user's finds, by the code that sets them", () => {
    const codes = codesIn(document.text);
    for (const provider of ["openai", "compatible", "anthropic", "gemini"] as const) {
      const { env } = agentAdapter("command").launch({
        promptPath: "/p",
        prompt: "",
        model: undefined,
        extraArgs: ["true"],
        modelApi: { provider, origin: "http://127.0.0.1:1", placeholderKey: "k" },
      });
      expect(Object.keys(env).filter((name) => !codes.includes(name))).toEqual([]);
    }
  });
});
