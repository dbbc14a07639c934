import type { SecretLintRuleCreator } from "@secretlint/types";
import { PRIVATE_KEY } from "./secret-patterns.ts";

/** One rule of secretlint, with what it finds and a cheap sign without which it can find nothing. */
export interface SecretRule {
  readonly what: string;
  readonly hint: RegExp;
  readonly creator: SecretLintRuleCreator;
  /** Shorter matches are something else that only looks like it. */
  readonly atLeast?: number;
  /** Matches that are more often an example than a credential: they are only suspected. */
  readonly doubtful?: RegExp;
}

/** A password that is one short word, or a machine that is this one: what compose files and examples are full of. */
const TAME_ADDRESS = /:[a-z]{1,12}@|@(?:localhost|127\.0\.0\.1|host\.docker\.internal)\b/;

/**
 * The single rules, loaded when they are first needed. Not their preset: that one holds a rule which lets the scanned
 * text switch the others off.
 *
 * The hints are for speed alone: a call of a rule costs 20 ms a MiB even where it finds nothing, and secretlint's
 * profiler remembers every call for ever.
 */
export async function loadSecretRules(): Promise<readonly SecretRule[]> {
  const [first, second] = await Promise.all([loadCloud(), loadServices()]);
  return [...first, ...second];
}

async function loadCloud(): Promise<readonly SecretRule[]> {
  const [aws, gcp, privateKey, basic, database, databricks, docker, vault, onePassword] =
    await Promise.all([
      import("@secretlint/secretlint-rule-aws"),
      import("@secretlint/secretlint-rule-gcp"),
      import("@secretlint/secretlint-rule-privatekey"),
      import("@secretlint/secretlint-rule-basicauth"),
      import("@secretlint/secretlint-rule-database-connection-string"),
      import("@secretlint/secretlint-rule-databricks"),
      import("@secretlint/secretlint-rule-docker"),
      import("@secretlint/secretlint-rule-hashicorp-vault"),
      import("@secretlint/secretlint-rule-1password"),
    ]);
  return [
    { what: "an AWS secret key", hint: /secret_?access_?key/i, creator: aws.creator },
    { what: "a Google service account", hint: /"private_key_id"/, creator: gcp.creator },
    { what: PRIVATE_KEY, hint: /PRIVATE KEY/, creator: privateKey.creator },
    {
      what: "a password in an address",
      hint: /:\/\/[\w-]{1,256}:[\w-]{1,256}@/,
      creator: basic.creator,
      doubtful: TAME_ADDRESS,
    },
    {
      what: "a database password",
      hint: /(?:mongodb|mysql|postgres)[a-z+]{0,8}:\/\//i,
      creator: database.creator,
      doubtful: TAME_ADDRESS,
    },
    { what: "a Databricks token", hint: /dapi[A-Fa-f0-9]{8}/, creator: databricks.creator },
    { what: "a Docker token", hint: /dckr_pat_/, creator: docker.creator },
    { what: "a Vault token", hint: /hv[sbr]\./, creator: vault.creator },
    { what: "a 1Password token", hint: /ops_ey/, creator: onePassword.creator },
  ];
}

async function loadServices(): Promise<readonly SecretRule[]> {
  const [npm, slack, sendgrid, shopify, github, gitlab, grafana, openai, anthropic, linear, figma] =
    await Promise.all([
      import("@secretlint/secretlint-rule-npm"),
      import("@secretlint/secretlint-rule-slack"),
      import("@secretlint/secretlint-rule-sendgrid"),
      import("@secretlint/secretlint-rule-shopify"),
      import("@secretlint/secretlint-rule-github"),
      import("@secretlint/secretlint-rule-gitlab"),
      import("@secretlint/secretlint-rule-grafana"),
      import("@secretlint/secretlint-rule-openai"),
      import("@secretlint/secretlint-rule-anthropic"),
      import("@secretlint/secretlint-rule-linear"),
      import("@secretlint/secretlint-rule-figma"),
    ]);
  return [
    { what: "an npm token", hint: /x-oauth-basic@|npm_\w{8}/, creator: npm.creator },
    { what: "a Slack token", hint: /xox[abpro]-|xapp-|hooks\.slack\.com/i, creator: slack.creator },
    // Of 69 characters; the rule takes any three words with dots between, such as `SG.Module.name`.
    { what: "a SendGrid key", hint: /SG\.\w{16}/, creator: sendgrid.creator, atLeast: 60 },
    { what: "a Shopify token", hint: /shp(?:pa|ca|at|ss)_/, creator: shopify.creator },
    { what: "a GitHub token", hint: /gh[pousr]_|github_pat_/, creator: github.creator },
    { what: "a GitLab token", hint: /glpat-/, creator: gitlab.creator },
    { what: "a Grafana token", hint: /glc_|glsa_/, creator: grafana.creator },
    { what: "an OpenAI key", hint: /T3BlbkFJ/, creator: openai.creator },
    { what: "an Anthropic key", hint: /sk-ant-/, creator: anthropic.creator },
    { what: "a Linear key", hint: /lin_api_/, creator: linear.creator },
    { what: "a Figma token", hint: /figd_/, creator: figma.creator },
  ];
}
