import type { HostEnvironment } from "../../core/environment.ts";
import { unreachable } from "../../core/result.ts";
import { codexAuthPath, readCodexAuth } from "./codex-auth-file.ts";
import { secretFromFile } from "./from-file.ts";
import { claudeLogin } from "./login-claude.ts";
import { type Reference, parseReference } from "./reference.ts";
import { secretIn } from "./secret-text.ts";

type Env = Pick<HostEnvironment, "read" | "home" | "configDir">;

/**
 * The values a reference leads to now, for a process that looks for them in what an earlier one left. Only what costs
 * nothing is read: no command is run and no login renewed, and what is not there any more is left out.
 *
 * @param shown a reference as a run's record has it.
 */
export async function rereadSecrets(shown: string, env: Env): Promise<readonly string[]> {
  const reference = parseReference(shown);
  return reference.ok ? secretsOf(reference.value, env) : [];
}

async function secretsOf(reference: Reference, env: Env): Promise<readonly string[]> {
  switch (reference.kind) {
    case "none":
    case "command":
      return [];
    case "env": {
      const secret = secretIn(env.read(reference.name) ?? "");
      return secret.ok ? [secret.value] : [];
    }
    case "file": {
      const secret = await secretFromFile(reference.path, { home: env.home, onNotice: () => {} });
      return secret.ok ? [secret.value] : [];
    }
    case "login": {
      if (reference.name === "codex") {
        const auth = await readCodexAuth(codexAuthPath(env));
        return auth.ok ? auth.value.secrets : [];
      }
      const login = await claudeLogin({ env, onNotice: () => {} });
      return login.ok ? login.value.secrets() : [];
    }
    default:
      return unreachable(reference);
  }
}
