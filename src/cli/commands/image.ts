import { join } from "node:path";
import { Command, Option } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { type BuiltImage, buildImage } from "../../engine/image/build.ts";
import type { ImageEngine } from "../../engine/image/image-engine.ts";
import { IMAGE_AGENTS, type ImageAgent } from "../../engine/image/versions.ts";
import type { EngineKind } from "../../core/run-spec.ts";
import { COMMANDS } from "../command-names.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { devcontainerImage, namesDevcontainer } from "../devcontainer-image.ts";
import { engineProgram } from "../engines.ts";
import { size } from "../output/duration.ts";
import { shortId } from "../output/engine.ts";
import { green } from "../output/text.ts";
import { settingsHere } from "../settings.ts";

export function imageCommand(context: Context, finish: Finish): Command {
  const build = define({
    name: "build",
    summary: "build the agent image, unless a current one is there",
    description:
      "Builds from node:22-bookworm-slim where a registry answers, else from Debian packages and npm (which needs root and debootstrap, and says so). Says which it took. With --from it adds what is needed to an image of yours.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.interrupted],
    examples: [
      "guardloop image build",
      "guardloop image build --agent codex,claude",
      "guardloop image build --from python:3.13 --image my-agent",
      "guardloop image build --from devcontainer --image my-agent",
    ],
  })
    .option("--image <NAME>", "name of the image")
    .addOption(
      new Option(
        "--engine <NAME>",
        "the engine that gets the image; by default the one that run takes",
      ).choices(["docker", "podman", "auto"]),
    )
    .option(
      "--agent <NAMES>",
      `agent programs to put in: ${IMAGE_AGENTS.join(", ")}, several with commas, or none; by default all`,
    )
    // As it was called before there were four of them.
    .addOption(new Option("--agents <NAMES>").hideHelp())
    .option(
      "--from <IMAGE>",
      "build on an image of yours, of Debian's kind, instead; `devcontainer` for the repository's",
    )
    .addOption(
      new Option("--source <SOURCE>", "where the base comes from")
        .choices(["auto", "registry", "debian"])
        .default("auto"),
    )
    .option("--force", "build even when a current image is there");
  action(build, { context, finish }, perform);
  return new Command("image")
    .summary(COMMANDS.image.summary)
    .description("Works on the image that agents run in.")
    .addCommand(build);
}

type Agents = "default" | readonly ImageAgent[];

function askedAgents(call: Call): Result<Agents, Failure> {
  const text = textOption(call, "agent") ?? textOption(call, "agents");
  if (text === undefined) return ok("default");
  if (text === "none") return ok([]);
  const names = text.split(",").map((name) => name.trim());
  const known = IMAGE_AGENTS.filter((name) => names.includes(name));
  if (names.every((name) => known.some((one) => one === name))) return ok(known);
  return fail("usage", `--agent ${text} is not understood.`, {
    cure: `Type --agent with some of ${IMAGE_AGENTS.join(",")}, or --agent none.`,
  });
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const agents = askedAgents(call);
  if (!agents.ok) return agents;
  const wanted = await wantedHere(call);
  if (!wanted.ok) return wanted;
  const engine = await engineProgram(context, wanted.value.engine);
  if (!engine.ok) return engine;
  const from = await fromHere(call, engine.value);
  if (!from.ok) return from;
  const { image: name } = wanted.value;
  const built = await buildImage({
    name,
    engine: engine.value,
    env: context.env,
    agents: agents.value,
    source: sourceOf(call),
    ...(from.value === undefined ? {} : { from: from.value }),
    rebuild: call.options.force === true ? "always" : "when-outdated",
    onProgress: (line) => context.output.progress(line),
    imageDir: join(context.packageRoot, "image"),
    workDir: join(context.env.stateDir, "image-build"),
    signal: context.interrupt,
  });
  if (built.ok) print(call, { name, engine: engine.value.kind }, built.value);
  return built.ok ? ok(EXIT.done) : built;
}

function sourceOf(call: Call): "auto" | "registry" | "debian" {
  const source = textOption(call, "source");
  return source === "registry" || source === "debian" ? source : "auto";
}

/** The image to build on; the repository's own one is built first where it is a Dockerfile. */
async function fromHere(
  call: Call,
  engine: ImageEngine,
): Promise<Result<string | undefined, Failure>> {
  const from = textOption(call, "from");
  if (from === undefined || !namesDevcontainer(from)) return ok(from);
  return devcontainerImage(call.context, engine, from);
}

function print(
  { context, format }: Call,
  { name, engine }: { readonly name: string; readonly engine: EngineKind },
  built: BuiltImage,
): void {
  if (format === "json") {
    context.output.json({ version: 1, image: { name, engine, ...built } });
    return;
  }
  context.output.result(
    green(built.outcome === "built" ? "Built " : "Up to date: "),
    `${name} in ${engine} (${shortId(built.id)}, ${size(built.sizeBytes)}, from ${built.source})`,
  );
}

/** The image and the engine that `run` would use here: flag, environment, files, default. */
async function wantedHere(
  call: Call,
): Promise<Result<{ readonly image: string; readonly engine: EngineKind | "auto" }, Failure>> {
  const flags = {
    "container.image": textOption(call, "image"),
    "container.engine": textOption(call, "engine"),
  };
  const resolved = await settingsHere(call.context, flags);
  return resolved.ok ? ok(resolved.value.settings.container) : resolved;
}
