import { z } from "zod";

/** One line of text without control characters, which could forge lines in headers and terminals. */
export function oneLine(limitChars: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(limitChars)
    .refine((text) => !/\p{Cc}/u.test(text));
}

/** A path or glob below the repository's root: not absolute, and no `..` that would lead out of it. */
export function repositoryPath(): z.ZodString {
  return oneLine(1000).refine(
    (path) => !path.startsWith("/") && !path.split("/").includes("..") && !path.includes("\\"),
  );
}

/** `""` stands for "not set", since TOML has no null. */
export function emptyOr(schema: z.ZodString): z.ZodType<string | undefined> {
  return z
    .literal("")
    .transform(() => undefined)
    .or(schema);
}
