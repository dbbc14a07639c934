import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EgressEntry } from "../../src/core/egress.ts";
import { ending } from "../rig/lifecycle.ts";
import { ASSIGNED_AGENT } from "../rig/several.ts";
import { type World, makeWorld, runsOf } from "../rig/world.ts";

const HOST = "registry.example.org";

/** A certificate for the host that signs itself; made in the image, which has what that takes. */
function certificate(): string {
  const subject = ["-subj", `/CN=${HOST}`, "-addext", `subjectAltName=DNS:${HOST}`];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const out = ["-keyout", "/dev/stdout", "-out", "/dev/stdout", "-days", "2"];
  const run = ["run", "--rm", "--network=none", "--entrypoint=openssl", "guardloop-agent"];
  return execFileSync("docker", [...run, "req", "-x509", ...key, ...out, ...subject], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** A package as `npm pack` makes it. */
function packageOf(world: World): Buffer {
  const directory = join(world.root, "left/package");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"name":"left","version":"1.0.0"}');
  writeFileSync(join(directory, "index.js"), "module.exports = 'from the registry';\n");
  return execFileSync("tar", ["czf", "-", "-C", join(world.root, "left"), "package"]);
}

/** A registry with one package, behind the proxy of a company that leads every name to it. */
async function registry(pem: string, tarball: Buffer) {
  const asked: string[] = [];
  const server = createTlsServer({ key: pem, cert: pem }, (request, response) => {
    asked.push(request.url ?? "");
    response.end(tarball);
  });
  const proxy = createServer((client) => {
    client.on("error", () => undefined);
    client.once("data", () => {
      const upstream = connect((server.address() as AddressInfo).port, "127.0.0.1");
      upstream.on("error", () => client.destroy());
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
  });
  for (const one of [server, proxy])
    await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.dispose](): void {
      server.closeAllConnections();
      server.close();
      proxy.close();
    },
  };
}

function project(world: World, pem: string, tarball: Buffer): void {
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dependencies = { left: "1.0.0" };
  const resolved = `https://${HOST}/left/-/left-1.0.0.tgz`;
  const packages = {
    "": { name: "shop", version: "1.0.0", dependencies },
    "node_modules/left": { version: "1.0.0", resolved, integrity },
  };
  world.write("package.json", JSON.stringify({ name: "shop", version: "1.0.0", dependencies }));
  world.write(
    "package-lock.json",
    JSON.stringify({ name: "shop", version: "1.0.0", lockfileVersion: 3, packages }),
  );
  world.write(
    ".npmrc",
    `registry=https://${HOST}/\ncafile=/workspace/ca.pem\naudit=false\nfund=false\n`,
  );
  world.write("ca.pem", pem.slice(pem.indexOf("-----BEGIN CERTIFICATE-----")));
  world.write(".gitignore", "node_modules/\n");
  world.commit("A project with a dependency");
}

function egressOf(world: World, run: string): readonly EgressEntry[] {
  const text = readFileSync(join(world.state, "runs", run, "egress.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EgressEntry);
}

const USE = `test "$(node -p 'require("left")')" = "from the registry"`;

test("npm installs through the proxy, and agent and validation have the package without a network", async () => {
  using world = makeWorld("docker");
  const pem = certificate();
  const tarball = packageOf(world);
  project(world, pem, tarball);
  using server = await registry(pem, tarball);
  const env = { HTTPS_PROXY: server.address };
  const refused = "npm view left --registry https://evil.example/ --fetch-retries 0 || true";
  const flags = ["--setup", "npm ci", "--setup", refused, "--setup-host", HOST];
  const caches = ["--cache", ".npm", "--cache", ".cache/some"];
  const agent = `set -e\n${USE}\ntest -d "$HOME/.npm/_cacache"\ntouch "$HOME/.cache/own"
test ! -e /guardloop/proxy.sock\ntest -z "$HTTPS_PROXY"\n! touch "$HOME/.npm/x"\n${ASSIGNED_AGENT}`;
  const ended = await world.run(agent, [...flags, ...caches, "--validate", `deps: ${USE}`], {
    env,
  });
  expect(ending(ended)).toBe("exit 0");
  expect(server.asked).toEqual(["/left/-/left-1.0.0.tgz"]);
  const [run] = await runsOf(world);
  const entries = egressOf(world, run?.id ?? "");
  expect(entries).toContainEqual(
    expect.objectContaining({
      host: HOST,
      outcome: "answered",
      phase: "setup",
      way: "https-proxy",
    }),
  );
  expect(entries).toContainEqual(
    expect.objectContaining({ host: "evil.example", outcome: "refused", status: 403 }),
  );
  expect(entries.find(({ host }) => host === HOST)?.responseBytes).toBeGreaterThan(tarball.length);
  const names = world.git("diff", "--name-only", `${run?.base}`, `${run?.head}`).split("\n");
  expect(names).toEqual(["T1.txt", "docs/TASKS.md"]);
  // The registry could be gone now.
  const again = await world.run(agent, [...flags, ...caches, "--task", "T2"]);
  expect(ending(again)).toBe("exit 0");
  expect(again.stderr).toContain("is used again");
});

test("the agent reaches a host that --allow-host names, and no other, and both are written down", async () => {
  using world = makeWorld("docker");
  const pem = certificate();
  const tarball = packageOf(world);
  project(world, pem, tarball);
  using server = await registry(pem, tarball);
  const agent = `export npm_config_cache=/tmp/npm
npm ci && ${USE} || exit 9
npm view left --registry https://evil.example/ --fetch-retries 0 && exit 8
${ASSIGNED_AGENT}`;
  const ended = await world.run(agent, ["--network", "gateway", "--allow-host", HOST], {
    env: { HTTPS_PROXY: server.address },
  });
  expect(ending(ended)).toBe("exit 0");
  expect(server.asked).toContain("/left/-/left-1.0.0.tgz");
  const [run] = await runsOf(world);
  const seen = egressOf(world, run?.id ?? "").map((entry) => `${entry.phase} ${entry.outcome}`);
  expect([...new Set(seen)].toSorted()).toEqual(["agent answered", "agent refused"]);
});
