import { ok } from "../../core/result.ts";
import type { Credential, CredentialValue } from "../port.ts";

/** A credential that stays what it is. The value lives in a closure: no property of the object shows it. */
export function heldCredential(shown: string, value: CredentialValue): Credential {
  return {
    shown,
    value: () => Promise.resolve(ok(value)),
    secrets: () => [value.secret],
  };
}
