import { posix } from "node:path";
import { z } from "zod";
import { type Result, err, ok } from "../../core/result.ts";
import { jsonWithComments } from "./json-with-comments.ts";

/** What a repository's devcontainer.json asks for, as far as an image can be made of it. */
export type Devcontainer = (
  | { readonly kind: "image"; readonly image: string }
  | {
      readonly kind: "dockerfile";
      /** Paths relative to the repository's root, inside of it; `.` for the root. */
      readonly dockerfile: string;
      readonly context: string;
      readonly target: string | undefined;
      readonly args: Readonly<Record<string, string>>;
    }
) & {
  /** Keys that ask for more than an image and are not followed, such as `features`. */
  readonly ignored: readonly string[];
};

/** An image's name; nothing that a program could take for an option, and no variable. */
const IMAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/;
const LINE = z.string().max(1000);

const SCHEMA = z.looseObject({
  image: LINE.optional(),
  dockerFile: LINE.optional(),
  dockerComposeFile: z.unknown().optional(),
  build: z
    .looseObject({
      dockerfile: LINE.optional(),
      context: LINE.optional(),
      target: z
        .string()
        .regex(/^[A-Za-z0-9][\w.-]*$/)
        .optional(),
      args: z.record(z.string().regex(/^[A-Za-z_]\w*$/), LINE).optional(),
    })
    .optional(),
});

const NOT_FOLLOWED =
  /^(?:features|initializeCommand|onCreateCommand|updateContentCommand|postCreateCommand|postStartCommand|postAttachCommand|mounts|runArgs|containerEnv|remoteEnv)$/;

/**
 * Reads devcontainer.json (containers.dev/implementors/json_reference).
 *
 * @param path of the file in the repository: what it names is relative to its directory.
 * @returns one clause on what is wrong with it.
 */
export function readDevcontainer(text: string, path: string): Result<Devcontainer, string> {
  const parsed = SCHEMA.safeParse(jsonWithComments(text));
  if (!parsed.success) {
    const at = parsed.error.issues[0]?.path.join(".") ?? "";
    return err(at === "" ? "is not a JSON object" : `has a value at ${at} that is not understood`);
  }
  const { data } = parsed;
  const ignored = Object.keys(data).filter((key) => NOT_FOLLOWED.test(key));
  if (data.dockerComposeFile !== undefined)
    return err("uses Docker Compose, which is several containers: name one image with --from");
  const dockerfile = data.build?.dockerfile ?? data.dockerFile;
  return dockerfile === undefined
    ? named(data.image, ignored)
    : built(dockerfile, { path, build: data.build, ignored });
}

function named(
  image: string | undefined,
  ignored: readonly string[],
): Result<Devcontainer, string> {
  if (image === undefined) return err("names neither an image nor a Dockerfile");
  if (IMAGE_NAME.test(image)) return ok({ kind: "image", image, ignored });
  return err(`names the image ${JSON.stringify(image)}, which is not a plain name`);
}

function built(
  dockerfile: string,
  at: {
    readonly path: string;
    readonly build: z.infer<typeof SCHEMA>["build"];
    readonly ignored: readonly string[];
  },
): Result<Devcontainer, string> {
  const { context: name = ".", target, args = {} } = at.build ?? {};
  const directory = posix.dirname(at.path);
  const file = insideOf(directory, dockerfile);
  const context = insideOf(directory, name);
  if (file === undefined || context === undefined)
    return err("names a Dockerfile or a context outside of the repository");
  return ok({ kind: "dockerfile", dockerfile: file, context, target, args, ignored: at.ignored });
}

/** Undefined for a path that leaves the repository, or holds a variable. */
function insideOf(directory: string, name: string): string | undefined {
  const path = posix.normalize(posix.join(directory, name));
  const leaves = posix.isAbsolute(name) || path === ".." || path.startsWith("../");
  return leaves || name.includes("${") || path.startsWith("-") ? undefined : path;
}
