import { speaksOfSecret } from "../../policy/secret-values.ts";
import { redactionsOf } from "../export/redact.ts";
import { type ReviewServices, type SecretInUse, secretsInUse } from "../review/secrets-in-use.ts";
import { type Redactor, redactorOf } from "./redactor.ts";

/** `production`, `assistant`: such a value stands in logs, and in agents' event streams, in a sense of its own. */
const PLAIN_WORD = /^[\p{L}_]+$/u;

/**
 * Takes out of what is written down and shown the values that a run's container got by name, and those of the `.env`
 * files that Git does not track in the principal checkout: raw, escaped in JSON, percent-encoded and in base64. Where
 * Git cannot list those files, the passed variables alone.
 */
export async function redactorInUse(
  services: ReviewServices,
  passEnv: readonly string[],
): Promise<Redactor> {
  const passed = passedSecrets(services, passEnv);
  const inUse = await secretsInUse(services, passEnv);
  return redactorOf(redactionsOf([...passed, ...(inUse.ok ? inUse.value.secrets : [])]));
}

/** More than a review calls a secret: what is passed is seldom in a log on purpose. */
function passedSecrets(
  { env }: ReviewServices,
  passEnv: readonly string[],
): readonly SecretInUse[] {
  return passEnv.flatMap((name) => {
    const value = env.read(name);
    if (value === undefined || (PLAIN_WORD.test(value) && !speaksOfSecret(name))) return [];
    return [{ name: `${name} of the environment`, value }];
  });
}
