import { execFile, execFileSync, spawnSync } from "node:child_process";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GOOD_AGENT, makeWorld } from "../rig/world.ts";

const METADATA = "169.254.169.254";
const SECRET = "credentials of this machine";

/** Prints for each address, and for the container's gateway, what a request to it came to. */
const ASK = `
const http = require("node:http");
const fs = require("node:fs");
const route = fs.readFileSync("/proc/net/route", "utf8").split("\\n").map((row) => row.split("\\t")).find((row) => row[1] === "00000000");
const gateway = route[2].match(/../g).reverse().map((byte) => parseInt(byte, 16)).join(".");
const [port, ...hosts] = process.argv.slice(1);
const ask = (host) => new Promise((done) => {
  const request = http.get({ host, port, timeout: 20000 }, (response) => {
    response.setEncoding("utf8").on("data", (text) => done(text));
  });
  request.on("timeout", () => request.destroy(new Error("timeout")));
  request.on("error", (error) => done(error.code ?? error.message));
});
(async () => {
  for (const host of hosts) console.log("answer of " + host + ": " + (await ask(host)));
  console.log("answer of the host: " + (await ask(gateway)));
})();
`;

/** A metadata service, and a service of this host, on every address. */
let server: Server;
/** Where the tests may give this host the address, the service is really there. */
const playsMetadata =
  spawnSync("ip", ["address", "add", `${METADATA}/32`, "dev", "lo"]).status === 0;

beforeAll(async () => {
  server = createServer((_, response) => response.end(SECRET));
  await new Promise<void>((resolve) => void server.listen(0, "0.0.0.0", resolve));
});

afterAll(async () => {
  if (playsMetadata) execFileSync("ip", ["address", "del", `${METADATA}/32`, "dev", "lo"]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function port(): number {
  return (server.address() as AddressInfo).port;
}

/** As it would be without what guardloop adds to `--network bridge`. */
async function askFromPlainContainer(): Promise<string> {
  const plain = ["run", "--rm", "--network=bridge", "--entrypoint=node", "guardloop-agent"];
  const asking = [...plain, "-e", ASK, String(port()), METADATA];
  return (await promisify(execFile)("docker", asking)).stdout;
}

describe("a container with a real network, on Docker", () => {
  test("reaches services of the host, as is said, but no cloud metadata by address or by name", async () => {
    using world = makeWorld("docker");
    const names = [METADATA, "169.254.170.2", "metadata.google.internal"];
    const script = `node -e '${ASK}' ${port()} ${names.join(" ")}\n${GOOD_AGENT}`;
    const ended = await world.run(script, ["--network", "bridge"]);
    expect(ended.code, ended.stderr).toBe(0);
    const log = (await world.guardloop(["logs", "@last"])).stdout;
    for (const name of names) expect(log).toContain(`answer of ${name}: ECONNREFUSED`);
    expect(log).toContain(`answer of the host: ${SECRET}`);
  });

  test.skipIf(!playsMetadata)("would reach them without guardloop's arguments", async () => {
    expect(await askFromPlainContainer()).toContain(`answer of ${METADATA}: ${SECRET}`);
  });
});
