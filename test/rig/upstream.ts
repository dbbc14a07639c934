import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface UpstreamRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A model API on loopback, played by a test. */
export interface Upstream extends AsyncDisposable {
  /** Base address, without a slash at its end. */
  readonly url: string;
  readonly requests: readonly UpstreamRequest[];
}

/** @param answer gets each request once its body is there. */
export async function startUpstream(
  answer: (request: UpstreamRequest, response: ServerResponse, count: number) => void,
): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const seen = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      requests.push(seen);
      answer(seen, response, requests.length);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A streamed answer of OpenAI's Responses API with a text and what it used. */
export function sayOpenai(
  response: ServerResponse,
  {
    text = "Done.",
    input = 100,
    output = 10,
  }: { text?: string; input?: number; output?: number } = {},
): void {
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(event("response.created", { response: { id: "r1" } }));
  response.write(event("response.output_text.delta", { delta: text }));
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    total_tokens: input + output,
  };
  response.end(event("response.completed", { response: { id: "r1", model: "gpt-x", usage } }));
}
