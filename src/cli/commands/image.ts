import { join } from "node:path";
import { Command, Option } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { buildImage } from "../../engine/image/build.ts";
import { type Context, dockerProgram } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { size } from "../output/duration.ts";
import { green } from "../output/text.ts";
import { settingsHere } from "../settings.ts";

export function imageCommand(context: Context, finish: Finish): Command {
  const build = define({
    name: "build",
    summary: "build the agent image, unless a current one is there",
    description:
      "Builds from node:22-bookworm-slim where a registry answers, else from Debian packages and npm (which needs root and debootstrap, and says so). Says which it took.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.interrupted],
    examples: ["guardloop image build", "guardloop image build --agents none --source debian"],
  })
    .option("--image <NAME>", "name of the image")
    .option(
      "--agents <NAMES>",
      "agent programs to put in: codex, claude, both with a comma, or none",
    )
    .addOption(
      new Option("--source <SOURCE>", "where the base comes from")
        .choices(["auto", "registry", "debian"])
        .default("auto"),
    )
    .option("--force", "build even when a current image is there");
  action(build, { context, finish }, perform);
  return new Command("image")
    .summary("build the image that agents run in")
    .description("Works on the image that agents run in.")
    .addCommand(build);
}

type Agents = "default" | readonly ("codex" | "claude")[];

function parseAgents(text: string | undefined): Agents | undefined {
  if (text === undefined) return "default";
  if (text === "none") return [];
  const names = text.split(",").map((name) => name.trim());
  const known = names.filter((name) => name === "codex" || name === "claude");
  return known.length === names.length ? known : undefined;
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const agents = parseAgents(textOption(call, "agents"));
  if (agents === undefined)
    return {
      ok: false,
      error: {
        code: "usage",
        message: `--agents ${textOption(call, "agents") ?? ""} is not understood.`,
        cure: "Type --agents codex, --agents claude, --agents codex,claude or --agents none.",
        details: [],
      },
    };
  const program = dockerProgram(context);
  if (!program.ok) return program;
  const name = await imageName(call);
  if (!name.ok) return name;
  const source = textOption(call, "source");
  const built = await buildImage({
    name: name.value,
    program: program.value,
    env: context.env,
    agents,
    source: source === "registry" || source === "debian" ? source : "auto",
    rebuild: call.options.force === true ? "always" : "when-outdated",
    onProgress: (line) => context.output.progress(line),
    imageDir: join(context.packageRoot, "image"),
    workDir: join(context.env.stateDir, "image-build"),
    signal: context.interrupt,
  });
  if (!built.ok) return built;
  if (call.format === "json")
    context.output.json({ version: 1, image: { name: name.value, ...built.value } });
  else
    context.output.result(
      green(built.value.outcome === "built" ? "Built " : "Up to date: "),
      `${name.value} (${built.value.id.slice(0, 19)}, ${size(built.value.sizeBytes)}, from ${built.value.source})`,
    );
  return ok(EXIT.done);
}

/** The image that `run` would use here: flag, environment, files, default. */
async function imageName(call: Call) {
  const image = textOption(call, "image");
  const flags = image === undefined ? {} : { "container.image": image };
  const resolved = await settingsHere(call.context, flags);
  return resolved.ok ? ok(resolved.value.settings.container.image) : resolved;
}
