import picomatch from "picomatch";
import { once } from "../core/once.ts";

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

const secretNames = once(() => picomatch(SECRET_GLOBS, { dot: true, flags: "is" }));

/** True when a path looks like credentials by its name alone. */
export function isSecretPath(path: string): boolean {
  return secretNames()(path.normalize("NFC"));
}
