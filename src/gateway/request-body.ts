import type { IncomingMessage } from "node:http";
import { gunzip } from "node:zlib";
import { type Result, err, ok } from "../core/result.ts";
import { errnoOf } from "../core/errno.ts";
import { jsonShape } from "./json-shape.ts";
import { type Refusal, refusal } from "./refusal.ts";
import type { HeldRoom } from "./room.ts";

export interface BodyBounds {
  readonly maxRequestBytes: number;
  /** For the whole body. */
  readonly bodyMs: number;
  readonly room: HeldRoom;
}

/** A body that was read, and how it goes on: what was checked and nothing else. */
export interface CheckedBody {
  readonly json: unknown;
  readonly bytes: Buffer;
}

/** `cut`: the client went away. */
type Unread = Refusal | "cut";

/** Those of agents nest less than 30 levels, and have some thousand values. */
const DEEPEST = 500;
const MOST_VALUES = 1_000_000;

/** Whether a request says that it brings a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/**
 * Reads a body and takes it apart, within the bounds. Two keys of one name, numbers written in odd ways and the like are
 * read by this process and written anew, so that the upstream cannot read them in another way than they were checked.
 */
export async function readBody(
  request: IncomingMessage,
  bounds: BodyBounds,
): Promise<Result<CheckedBody, Unread>> {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding !== "identity" && encoding !== "gzip")
    return err(
      refusal(
        415,
        `The body of a request must be plain or gzip, so that it can be checked; turn the agent's compression of requests (${encoding.slice(0, 40)}) off.`,
      ),
    );
  const raw = await readBytes(request, bounds);
  if (!raw.ok) return raw;
  const plain = encoding === "gzip" ? await unzip(raw.value, bounds) : raw;
  return plain.ok ? parse(plain.value) : plain;
}

function readBytes(
  request: IncomingMessage,
  { maxRequestBytes, bodyMs, room }: BodyBounds,
): Promise<Result<Buffer, Unread>> {
  if (Number(request.headers["content-length"] ?? 0) > maxRequestBytes)
    return Promise.resolve(err(tooLarge(maxRequestBytes)));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (result: Result<Buffer, Unread>): void => {
      clearTimeout(timer);
      request.off("data", onData);
      resolve(result);
    };
    const slow = refusal(408, `The request's body took longer than ${bodyMs / 1000} seconds.`);
    const timer = setTimeout(() => finish(err(slow)), bodyMs);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxRequestBytes) return finish(err(tooLarge(maxRequestBytes)));
      if (!room.take(chunk.length)) return finish(err(NO_ROOM));
      chunks.push(chunk);
    };
    request.on("data", onData);
    request.once("end", () => finish(ok(Buffer.concat(chunks, bytes))));
    request.once("close", () => finish(err("cut")));
    // Stays for good: an error without a listener would end the process.
    request.on("error", () => finish(err("cut")));
  });
}

const NO_ROOM = refusal(413, "Too many large requests are under way at once; send fewer of them.");

function tooLarge(maxRequestBytes: number): Refusal {
  const mebibytes = (maxRequestBytes / 1024 ** 2).toFixed(1).replace(/\.0$/, "");
  return refusal(
    413,
    `The request is larger than ${mebibytes} MiB; the user can raise gateway.max_request.`,
  );
}

function unzip(
  raw: Buffer,
  { maxRequestBytes, room }: BodyBounds,
): Promise<Result<Buffer, Refusal>> {
  return new Promise((resolve) => {
    gunzip(raw, { maxOutputLength: maxRequestBytes }, (error, plain) => {
      if (error === null) resolve(room.take(plain.length) ? ok(plain) : err(NO_ROOM));
      else if (errnoOf(error) === "ERR_BUFFER_TOO_LARGE") resolve(err(tooLarge(maxRequestBytes)));
      else resolve(err(refusal(400, "The request's body says it is gzip, and it is not.")));
    });
  });
}

function parse(bytes: Buffer): Result<CheckedBody, Refusal> {
  const { values, depth } = jsonShape(bytes);
  if (depth > DEEPEST)
    return err(refusal(400, `The request's JSON is nested deeper than ${DEEPEST} levels.`));
  if (values > MOST_VALUES)
    return err(refusal(413, `The request's JSON has more than ${MOST_VALUES} values.`));
  try {
    const json: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return ok({ json, bytes: Buffer.from(JSON.stringify(json)) });
  } catch {
    return err(refusal(400, "The request's body is not JSON in UTF-8."));
  }
}
