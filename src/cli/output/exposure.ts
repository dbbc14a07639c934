import type { Budget } from "../../core/egress.ts";
import { unreachable } from "../../core/result.ts";
import type { Exposure, Fact } from "../../run/choice/exposure.ts";
import { type Segment, bold, dim, yellow } from "./text.ts";

/** Names that a line shows; the others are counted. */
const SHOWN = 8;

/** For the start of a run: what matters of an exposure, in three to five lines. What is opened wide is in bold. */
export function shortExposure(exposure: Exposure): readonly Segment[] {
  const { inCommit } = exposure.files;
  const secrets = yellow(
    `In the commit, and so in the container, are files whose names look like credentials: ${named(inCommit)}.`,
  );
  return [...networkLines(exposure), ...(inCommit.length === 0 ? [] : [secrets])];
}

function networkLines(exposure: Exposure): readonly Segment[] {
  switch (exposure.network) {
    case "none":
      return [
        dim(
          "Network none: the container reaches nothing; nothing leaves it but patches and artifacts.",
        ),
        ...passedLine(exposure),
      ];
    case "gateway":
      return gatewayLines(exposure);
    case "bridge":
      return bridgeLines(exposure);
    default:
      return unreachable(exposure.network);
  }
}

function gatewayLines(exposure: Exposure): readonly Segment[] {
  const models = exposure.reaches.filter(({ what }) => what === "model-api");
  const opened = exposure.leaks.filter(({ what }) => what !== "model-provider");
  const where = models.length === 0 ? "no model API" : named(models.flatMap(({ names }) => names));
  const only = opened.length === 0 ? ", and nothing else" : "";
  const kept = exposure.credentials.filter((one) => one.where === "host").map(({ what }) => what);
  return [
    `Network gateway: the container has no network; through the gateway on this host it reaches ${where}${only}.`,
    ...(models.length === 0
      ? []
      : [
          "What the agent reads it can send there: the commit with its history, and what else `guardloop explain` lists.",
        ]),
    kept.length === 0
      ? dim("Credential: none.")
      : dim(`Credential: ${named(kept)}, which stays on this host.`),
    ...opened.map(boldLeak),
    ...passedLine(exposure),
    dim(`Budget: ${budgetText(exposure.budget)}.`),
  ];
}

function boldLeak({ what, names }: Exposure["leaks"][number]): Segment {
  if (what === "allowed-hosts")
    return bold(
      `Allowed hosts: the agent, and everything it runs, can reach ${named(names)} by HTTPS, and can send the repository's content there.`,
    );
  if (what === "server-tools")
    return bold(
      `Tools of the provider: ${named(names)} run on the provider's side and reach the internet with what the model tells them.`,
    );
  return dim("Nothing leaves the container but patches and artifacts.");
}

function bridgeLines(exposure: Exposure): readonly Segment[] {
  const metadata = exposure.reaches.find(({ what }) => what === "cloud-metadata");
  return [
    bold(
      "Network mode bridge: the container gets a real network. The agent, and everything it runs, can reach the internet, your local network and services of this host, and can send the repository's content there.",
    ),
    ...passedLine(exposure),
    ...(metadata === undefined
      ? []
      : [bold(`Also in reach: ${metadata.text}: ${metadata.names.join(", ")}.`)]),
    bold("With --network gateway a hosted agent needs none of this."),
  ];
}

function passedLine({ credentials }: Exposure): readonly Segment[] {
  const passed = credentials.filter(({ where }) => where === "container");
  if (passed.length === 0) return [];
  const names = passed.map(({ what }) => what).join(", ");
  return [bold(`Passed into the container, readable by everything in it: ${names}.`)];
}

/** The whole of it, in blocks with a heading. */
export function exposureBlocks(
  exposure: Exposure,
): readonly { readonly heading: string; readonly lines: readonly string[] }[] {
  const { files, setup, limits } = exposure;
  const blocks = [
    { heading: "The container can read", lines: exposure.reads.map(factLine) },
    { heading: "It can reach", lines: exposure.reaches.map(factLine) },
    { heading: "What it reads can get to", lines: exposure.leaks.map(factLine) },
    {
      heading: "Credentials",
      lines:
        exposure.credentials.length === 0
          ? ["none"]
          : exposure.credentials.map(({ what, text }) => `${what}: ${text}`),
    },
    { heading: "Files that may hold secrets", lines: fileLines(files) },
    ...(setup === null
      ? []
      : [
          {
            heading: "Before the agent, in a container without it and without credentials",
            lines: [
              ...setup.commands,
              setup.hosts.length === 0
                ? "reaches nothing: setup.allow_hosts is empty"
                : `reaches by HTTPS: ${named(setup.hosts)}`,
            ],
          },
        ]),
    {
      heading: "Limits",
      lines: [
        `${limits.wallMinutes} minutes, and ${limits.idleMinutes} without a line of output`,
        ...(limits.waitForLimit === "on" && exposure.network === "gateway"
          ? ["the clocks stand still while a rate limit of the model API lasts"]
          : []),
        `budget: ${exposure.network === "gateway" ? budgetText(exposure.budget) : "nothing is counted without the gateway"}`,
      ],
    },
  ];
  return blocks;
}

function fileLines(files: Exposure["files"]): readonly string[] {
  const { inCommit, letIn, keptOut, othersKeptOut } = files;
  const others = othersKeptOut === 0 ? "" : `; ${othersKeptOut} more for other reasons`;
  return [
    `tracked by Git, so there: ${inCommit.length === 0 ? "none by their names" : named(inCommit)}`,
    ...(letIn.length === 0 ? [] : [`not tracked, let in by a rule: ${named(letIn.map(withRule))}`]),
    `not tracked, kept out: ${keptOut.length === 0 ? "none that look like one" : named(keptOut.map(withRule))}${others}`,
  ];
}

function withRule({ path, rule }: { readonly path: string; readonly rule: string }): string {
  return path === rule ? `${path} (named by itself)` : `${path} (${rule})`;
}

function factLine({ text, names }: Fact<string>): string {
  return names.length === 0 ? text : `${text}: ${named(names)}`;
}

function named(names: readonly string[]): string {
  const more = names.length - SHOWN;
  const shown = names.slice(0, SHOWN).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** `40 requests and 5 US dollars a run; 20 US dollars in all`, or `none is set`. */
function budgetText({ run, invocation }: Exposure["budget"]): string {
  const parts = [
    ...limitsOf(run).map((limit) => `${limit} a run`),
    ...limitsOf(invocation).map((limit) => `${limit} for all runs together`),
  ];
  return parts.length === 0 ? "none is set" : parts.join(", ");
}

function limitsOf({ requests, inputTokens, outputTokens, usd }: Budget): readonly string[] {
  const limits: readonly (readonly [number | null, string])[] = [
    [requests, "requests"],
    [inputTokens, "tokens in"],
    [outputTokens, "tokens out"],
    [usd, "US dollars"],
  ];
  return limits.flatMap(([limit, unit]) => (limit === null ? [] : [`${limit} ${unit}`]));
}
