import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { directory } from "./rig.ts";

/** A certificate that vouches for itself, for some host names; gone when disposed of. */
export function selfSigned(...hosts: readonly string[]) {
  const at = directory();
  const [key, cert] = [join(at.path, "key.pem"), join(at.path, "cert.pem")];
  const names = hosts.map((host) => `DNS:${host}`).join(",");
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"].concat(
      ["-days", "2", "-subj", `/CN=${hosts[0]}`, "-addext", `subjectAltName=${names}`],
      ["-keyout", key, "-out", cert],
    ),
    { stdio: "ignore" },
  );
  return {
    certFile: cert,
    key: readFileSync(key),
    cert: readFileSync(cert),
    [Symbol.dispose]: () => at[Symbol.dispose](),
  };
}
