import picomatch from "picomatch";

/** Names of files that hold credentials, matched without regard to case; see docs/operator-contract.md, Overlay. */
const SECRET_GLOBS = [
  "**/.env*",
  "**/*.{pem,key,p12,pfx,jks,keystore,kdbx}",
  "**/id_{rsa,dsa,ecdsa,ed25519}*",
  "**/.{netrc,npmrc,pypirc,git-credentials,pgpass,htpasswd,vault-token}",
  "**/{.aws,.ssh,.gnupg,.docker,.kube,.azure,.gcloud}/**",
  "**/{.aws,.ssh,.gnupg,.docker,.kube,.azure,.gcloud}/",
  "**/{credentials,secrets}{,.*}",
  "**/{kubeconfig,auth.json,service-account*.json}",
  "**/*.tfstate*",
];

const isSecret = picomatch(SECRET_GLOBS, { dot: true, flags: "is" });

/** True when a path looks like credentials by its name alone. */
export function isSecretPath(path: string): boolean {
  return isSecret(path.normalize("NFC"));
}

/** What to look for in text, each with what it is called in a message. */
const SECRET_PATTERNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["a private key", /-----BEGIN [A-Z ]{0,40}PRIVATE KEY( BLOCK)?-----/],
  ["an AWS access key", /\b(AKIA|ASIA)[0-9A-Z]{16}\b/],
  ["a GitHub token", /\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})/],
  ["an OpenAI key", /\bsk-(proj-|svcacct-)?[A-Za-z0-9_-]{32,}/],
  ["an Anthropic key", /\bsk-ant-(api|oat|ort|sid)\d{2}-[A-Za-z0-9_-]{20,}/],
  ["a Google API key", /\bAIza[0-9A-Za-z_-]{35}\b/],
  ["a Slack token", /\bxox[abeprs]-[A-Za-z0-9-]{10,}/],
  ["a Stripe live key", /\b[rs]k_live_[A-Za-z0-9]{16,}/],
  ["an npm token", /\bnpm_[A-Za-z0-9]{36}\b/],
  ["a refresh token", /"refresh_token"\s*:\s*"[^"]{16,}"/],
];

/** Names the first kind of secret found in a text, or undefined. */
export function secretInText(text: string): string | undefined {
  return SECRET_PATTERNS.find(([, pattern]) => pattern.test(text))?.[0];
}
