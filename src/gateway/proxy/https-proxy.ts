import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Socket } from "node:net";
import type { ProxySettings } from "../../core/environment.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { errnoOf } from "../../core/errno.ts";
import { proxyAddress } from "../proxy-address.ts";
import { type NoWay, type OpenWay, SYSTEM, TLS_PORT, directly } from "./outward.ts";

/** From the first byte to the answer on CONNECT. */
const ANSWER_MS = 20_000;
const MOST_ANSWER_BYTES = 16 * 1024;

/** The proxy that this host itself has to use, from HTTPS_PROXY and NO_PROXY. */
export interface HostsProxy {
  readonly url: URL;
  /** Names that are reached without it; `*` for all, a name also stands for what is below it. */
  readonly except: readonly string[];
}

/**
 * Reads the user's own settings of the proxy.
 *
 * @returns undefined where there is none; a sentence where it cannot be used. The address may hold a password and is not
 *   repeated.
 */
export function hostsProxy({
  httpsProxy,
  noProxy,
}: Pick<ProxySettings, "httpsProxy" | "noProxy">): Result<HostsProxy | undefined, string> {
  if (httpsProxy === undefined) return ok(undefined);
  const url = proxyAddress(httpsProxy, "HTTPS_PROXY");
  if (!url.ok) return url;
  const except = noProxy
    .split(/[\s,]+/)
    .filter((one) => one !== "")
    .map((one) => one.toLowerCase().replace(/^\*?\./, ""));
  return ok({ url: url.value, except });
}

/** The way out of this host: its own proxy where it has one, except for the names that go without, else directly. */
export function wayOut(proxy: HostsProxy | undefined): OpenWay {
  const direct = directly(SYSTEM);
  if (proxy === undefined) return direct;
  const through = throughProxy(proxy);
  return (host) => (isExcepted(host, proxy) ? direct(host) : through(host));
}

/** Whether a host is to be reached without the proxy. */
export function isExcepted(host: string, { except }: HostsProxy): boolean {
  return except.some((one) => one === "*" || host === one || host.endsWith(`.${one}`));
}

/**
 * Connects through the proxy that this host itself has to use. That one resolves the name, so the address is not looked
 * at here; what may be reached is the host name alone.
 */
export function throughProxy({ url }: HostsProxy): OpenWay {
  return async (host) => {
    const socket = dial(url);
    const answer = await ask(socket, request(url, host));
    if (answer.ok) return ok({ socket, by: "https-proxy" });
    socket.destroy();
    return err({
      kind: "failed",
      why: `${host} could not be reached through the proxy ${url.host} (${answer.error}).`,
    } satisfies NoWay);
  };
}

function dial(url: URL): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (url.protocol === "http:")
    return connect({ host, port: Number(url.port || "80"), allowHalfOpen: true });
  return connectTls({ host, port: Number(url.port || "443"), servername: host });
}

function request(url: URL, host: string): string {
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const login =
    url.username === ""
      ? ""
      : `Proxy-Authorization: Basic ${Buffer.from(user).toString("base64")}\r\n`;
  const target = `${host}:${TLS_PORT}`;
  return `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`;
}

/** Undefined behind `ok` when the tunnel stands; else what to say about the answer. */
function ask(socket: Socket, text: string): Promise<Result<undefined, string>> {
  return new Promise((resolve) => {
    let said = Buffer.alloc(0);
    const settle = (answer: Result<undefined, string>): void => {
      clearTimeout(late);
      socket.off("data", onData).off("close", onClose);
      socket.pause();
      resolve(answer);
    };
    const onData = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk]);
      const end = said.indexOf("\r\n\r\n");
      if (end === -1) {
        if (said.length > MOST_ANSWER_BYTES) settle(err("it answered too much"));
        return;
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(said.toString("latin1", 0, 64))?.[1];
      if (status === undefined || !status.startsWith("2"))
        settle(err(`it answered ${status ?? "no HTTP"}`));
      // TLS is begun by the client: whoever speaks now is not the host that was asked for.
      else if (said.length > end + 4) settle(err("it spoke before its turn"));
      else settle(ok(undefined));
    };
    const onClose = (): void => settle(err("it closed the connection"));
    const late = setTimeout(() => settle(err("it did not answer in time")), ANSWER_MS);
    socket.on("error", (error) => settle(err(errnoOf(error))));
    socket.on("data", onData).once("close", onClose);
    socket.write(text);
  });
}
