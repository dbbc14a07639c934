/** Why a credential cannot be used, without anything of its value. */
export interface CredentialProblem {
  /** Completes a sentence; no full stop at its end. */
  readonly problem: string;
  /** Where there is better advice than to correct it or to name another place. */
  readonly cure?: string;
}
