import { execFileSync } from "node:child_process";
import type { SampleRepository } from "../lease/sample-repository.ts";

/** Git in a sample repository as somebody who makes objects by hand; gives the output without its end. */
export function plumbingIn(
  repository: SampleRepository,
): (args: readonly string[], input?: string | Buffer) => string {
  return (args, input = "") =>
    execFileSync("git", args, {
      cwd: repository.topLevel,
      input,
      encoding: "utf8",
      env: {
        PATH: repository.env.path,
        HOME: repository.home,
        GIT_AUTHOR_NAME: "M",
        GIT_AUTHOR_EMAIL: "m@example.com",
        GIT_COMMITTER_NAME: "M",
        GIT_COMMITTER_EMAIL: "m@example.com",
      },
    }).trim();
}
