import type { SecretLintRuleCreator } from "@secretlint/types";
import { PRIVATE_KEY } from "./secret-patterns.ts";

/** One rule of secretlint, with what it finds and a cheap sign without which it can find nothing. */
export interface SecretRule {
  readonly what: string;
  readonly hint: RegExp;
  /** Only to be called for a text that has the sign. */
  readonly load: () => Promise<{ readonly creator: SecretLintRuleCreator }>;
  /** Shorter matches are something else that only looks like it. */
  readonly atLeast?: number;
  /** Matches that are more often an example than a credential: they are only suspected. */
  readonly doubtful?: RegExp;
}

/** A password that is one short word, or a machine that is this one: what compose files and examples are full of. */
const TAME_ADDRESS = /:[a-z]{1,12}@|@(?:localhost|127\.0\.0\.1|host\.docker\.internal)\b/;

/**
 * The single rules. Not their preset: that one holds a rule which lets the scanned text switch the others off.
 *
 * The hints are for speed alone: loading all rules costs 80 ms, a call of one 20 ms a MiB even where it finds nothing,
 * and secretlint's profiler remembers every call for ever.
 */
export const SECRET_RULES: readonly SecretRule[] = [
  {
    what: "an AWS secret key",
    hint: /secret_?access_?key/i,
    load: () => import("@secretlint/secretlint-rule-aws"),
  },
  {
    what: "a Google service account",
    hint: /"private_key_id"/,
    load: () => import("@secretlint/secretlint-rule-gcp"),
  },
  {
    what: PRIVATE_KEY,
    hint: /PRIVATE KEY/,
    load: () => import("@secretlint/secretlint-rule-privatekey"),
  },
  {
    what: "a password in an address",
    hint: /:\/\/[\w-]{1,256}:[\w-]{1,256}@/,
    load: () => import("@secretlint/secretlint-rule-basicauth"),
    doubtful: TAME_ADDRESS,
  },
  {
    what: "a database password",
    hint: /(?:mongodb|mysql|postgres)[a-z+]{0,8}:\/\//i,
    load: () => import("@secretlint/secretlint-rule-database-connection-string"),
    doubtful: TAME_ADDRESS,
  },
  {
    what: "a Databricks token",
    hint: /dapi[A-Fa-f0-9]{8}/,
    load: () => import("@secretlint/secretlint-rule-databricks"),
  },
  {
    what: "a Docker token",
    hint: /dckr_pat_/,
    load: () => import("@secretlint/secretlint-rule-docker"),
  },
  {
    what: "a Vault token",
    hint: /hv[sbr]\./,
    load: () => import("@secretlint/secretlint-rule-hashicorp-vault"),
  },
  {
    what: "a 1Password token",
    hint: /ops_ey/,
    load: () => import("@secretlint/secretlint-rule-1password"),
  },
  {
    what: "an npm token",
    hint: /x-oauth-basic@|npm_\w{8}/,
    load: () => import("@secretlint/secretlint-rule-npm"),
  },
  {
    what: "a Slack token",
    hint: /xox[abpro]-|xapp-|hooks\.slack\.com/i,
    load: () => import("@secretlint/secretlint-rule-slack"),
  },
  // Of 69 characters; the rule takes any three words with dots between, such as `SG.Module.name`.
  {
    what: "a SendGrid key",
    hint: /SG\.\w{16}/,
    load: () => import("@secretlint/secretlint-rule-sendgrid"),
    atLeast: 60,
  },
  {
    what: "a Shopify token",
    hint: /shp(?:pa|ca|at|ss)_/,
    load: () => import("@secretlint/secretlint-rule-shopify"),
  },
  {
    what: "a GitHub token",
    hint: /gh[pousr]_|github_pat_/,
    load: () => import("@secretlint/secretlint-rule-github"),
  },
  {
    what: "a GitLab token",
    hint: /glpat-/,
    load: () => import("@secretlint/secretlint-rule-gitlab"),
  },
  {
    what: "a Grafana token",
    hint: /glc_|glsa_/,
    load: () => import("@secretlint/secretlint-rule-grafana"),
  },
  {
    what: "an OpenAI key",
    hint: /T3BlbkFJ/,
    load: () => import("@secretlint/secretlint-rule-openai"),
  },
  {
    what: "an Anthropic key",
    hint: /sk-ant-/,
    load: () => import("@secretlint/secretlint-rule-anthropic"),
  },
  {
    what: "a Linear key",
    hint: /lin_api_/,
    load: () => import("@secretlint/secretlint-rule-linear"),
  },
  { what: "a Figma token", hint: /figd_/, load: () => import("@secretlint/secretlint-rule-figma") },
];
