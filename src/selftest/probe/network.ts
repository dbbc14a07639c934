import { lookup } from "node:dns/promises";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import type { Found, Targets } from "./found.ts";
import { codeOf, read } from "./read.ts";

/** TEST-NET-1 (RFC 5737): belongs to nobody, so that only the container's own network decides. */
const NOBODY = "192.0.2.1:9";
const TIMEOUT_MS = 2_000;

type Network = Pick<Found, "interfaces" | "routes" | "outside" | "lookups">;

/** Where there is a network, that is the answer: then the addresses that belong to somebody are left alone. */
export async function network(targets: Targets): Promise<Network> {
  const names = readdirSync("/sys/class/net").filter((name) => name !== "lo");
  const interfaces = [...new Set([...Object.keys(networkInterfaces()), ...names])];
  const isSealed = interfaces.every((name) => name === "lo");
  const ifSealed = (attempt: typeof reach): typeof reach =>
    isSealed ? attempt : async () => "not tried, there is a network";
  return {
    interfaces,
    routes: read("/proc/net/route").split("\n").length - 1,
    outside: {
      ...(await each([NOBODY], reach)),
      ...(await each(targets.addresses, ifSealed(reach))),
    },
    lookups: await each(targets.names, ifSealed(resolve)),
  };
}

async function each(
  names: readonly string[],
  attempt: (name: string) => Promise<string>,
): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await attempt(name)] as const)),
  );
}

function reach(address: string): Promise<string> {
  const [host = "", port = "0"] = address.split(":");
  return new Promise((settle) => {
    const socket = connect({ host, port: Number(port), timeout: TIMEOUT_MS });
    const end = (how: string): void => {
      socket.destroy();
      settle(how);
    };
    socket.on("connect", () => end("connected"));
    socket.on("timeout", () => end("no answer"));
    socket.on("error", (error) => end(codeOf(error)));
  });
}

async function resolve(name: string): Promise<string> {
  try {
    return (await lookup(name)).address;
  } catch (error) {
    return codeOf(error);
  }
}
