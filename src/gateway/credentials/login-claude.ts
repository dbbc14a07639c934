import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Credential } from "../port.ts";
import { secretFromFile } from "./from-file.ts";
import { heldCredential } from "./held.ts";
import type { CredentialProblem } from "./credential-problem.ts";
import { secretIn } from "./secret-text.ts";

const VARIABLE = "CLAUDE_CODE_OAUTH_TOKEN";
/** In the configuration directory, for who does not want it in every program's environment. */
const FILE = "claude-token";

/**
 * The long-lived token of `claude setup-token`, from its usual variable or from a file of guardloop's. It does not
 * rotate, so there is nothing to renew. Anthropic's API takes it as a bearer, with the header below among the betas.
 */
export async function claudeLogin(services: {
  readonly env: Pick<HostEnvironment, "read" | "home" | "configDir">;
  readonly onNotice: (sentence: string) => void;
}): Promise<Result<Credential, CredentialProblem>> {
  const { env } = services;
  const path = join(env.configDir, FILE);
  const cure = `Run \`claude setup-token\` and keep its token in ${VARIABLE} or in ${path}; or use an API key.`;
  const text = env.read(VARIABLE);
  const secret =
    text === undefined
      ? await secretFromFile(path, { home: env.home, onNotice: services.onNotice })
      : secretIn(text);
  if (!secret.ok) {
    const problem =
      text === undefined
        ? `${VARIABLE} is not set, and ${secret.error}`
        : `the variable ${VARIABLE} ${secret.error}`;
    return err({ problem, cure });
  }
  if (secret.value.startsWith("sk-ant-api"))
    return err({
      problem: "what is kept for it is an API key",
      cure: "Set credential.anthropic to the place of the API key: env:NAME or file:PATH.",
    });
  return ok(
    heldCredential("login:claude", {
      kind: "bearer",
      secret: secret.value,
      headers: { "anthropic-beta": "oauth-2025-04-20" },
    }),
  );
}
