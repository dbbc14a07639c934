import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Posted {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** A web server on loopback that keeps what it is sent and answers in turn with the given answers, the last one for ever. */
export async function listener(
  answers: readonly ((response: ServerResponse) => void)[] = [(response) => response.end()],
) {
  const posted: Posted[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readAll(request);
    posted.push({
      method: request.method ?? "",
      path: request.url ?? "",
      body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
    });
    answers[Math.min(posted.length, answers.length) - 1]?.(response);
  };
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    posted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}
