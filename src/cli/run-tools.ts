import { setImmediate } from "node:timers/promises";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { EngineKind } from "../core/run-spec.ts";
import type { Engine, EngineFacts, ImageFacts } from "../engine/port.ts";
import type { Principal } from "../git/principal.ts";
import { type Glance, glanceAtContainers, glanceAtRefs } from "../run/afterwards/glance.ts";
import { checkImage } from "../run/container/image-check.ts";
import { proveLimits } from "../run/container/limits-check.ts";
import type { Context } from "./context.ts";
import { type WantedEngine, engineOf, openEngine } from "./engines.ts";

export interface Tools {
  readonly engine: Engine;
  readonly facts: EngineFacts;
  readonly image: ImageFacts;
  /** What was chosen instead of what, and what about the engine is worth knowing. */
  readonly notices: readonly string[];
}

type WantedTools = WantedEngine & { readonly image: string };

/** Questions that are on their way; they change nothing, and may be left unanswered. */
export interface AskedEngine {
  readonly opened: ReturnType<typeof openEngine>;
  /** What the engine that is the first choice says of the image. */
  readonly image: Promise<{ readonly kind: EngineKind; readonly facts: ImageAnswer } | undefined>;
}

type ImageAnswer = Awaited<ReturnType<Engine["image"]>>;

/** Asks the engine what it is, and the one that is likely to be taken about the image meanwhile. */
export function askEngine(context: Context, wanted: WantedTools): AskedEngine {
  const kind = likelyKind(wanted.engine);
  const aboutImage = async () => {
    const engine = await engineOf(context, kind, "");
    return engine.ok ? { kind, facts: await engine.value.image(wanted.image) } : undefined;
  };
  const asked = { opened: openEngine(context, wanted), image: aboutImage() };
  // Where something else is wrong nobody waits for them.
  for (const one of Object.values(asked)) one.catch(() => undefined);
  return asked;
}

function likelyKind(wanted: WantedEngine["engine"]): EngineKind {
  return wanted === "auto" ? "docker" : wanted;
}

/** Asks what recovery will want to know, of the engine that is likely to be taken and of Git. */
export function glanceMeanwhile(
  context: Context,
  at: { readonly principal: Principal; readonly engine: WantedEngine["engine"] },
): Glance {
  const containers = async () => {
    const engine = await engineOf(context, likelyKind(at.engine), "");
    return engine.ok ? glanceAtContainers(context.env, engine.value) : undefined;
  };
  const refs = async () => {
    await setImmediate();
    return glanceAtRefs(at.principal.git);
  };
  const glance = { containers: containers(), refs: refs() };
  for (const one of Object.values(glance)) one.catch(() => undefined);
  return glance;
}

/** The engine, proven to answer and to keep limits, and the image, proven to suit. */
export async function engineAndImage(
  context: Context,
  settings: { readonly container: WantedTools },
  asked = askEngine(context, settings.container),
): Promise<Result<Tools, Failure>> {
  const opened = await asked.opened;
  if (!opened.ok) return opened;
  const { engine, insteadOf } = opened.value;
  const { image: name } = settings.container;
  const early = await asked.image;
  const image = early?.kind === engine.kind ? early.facts : await engine.image(name);
  if (!image.ok) return image;
  if (image.value === undefined) return imageMissing(engine, name);
  const { stateDir } = context.env;
  const found = { name, facts: image.value };
  const facts = await proveLimits(engine, { facts: opened.value.facts, image: found }, stateDir);
  if (!facts.ok) return facts;
  const suits = await checkImage(engine, { ...found, setup: facts.value.setup }, stateDir);
  if (!suits.ok) return suits;
  const chosen =
    insteadOf === undefined ? [] : [`${engine.name} runs the containers, because: ${insteadOf}`];
  const notices = [...chosen, ...facts.value.notes];
  return ok({ engine, facts: facts.value, image: image.value, notices });
}

function imageMissing({ kind, name: engine }: Engine, image: string): Result<never, Failure> {
  const build = kind === "docker" ? "" : ` --engine ${kind}`;
  return fail(
    "image-missing",
    `The image ${image} is not in ${engine}; guardloop never pulls one by itself.`,
    { cure: `Run \`guardloop image build${build}\`, or name another image with --image.` },
  );
}
