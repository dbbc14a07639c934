import { request } from "node:http";

/** Asked of the gateway over the model API's socket; no provider's path begins like this. */
const LIMIT_PATH = "/guardloop/limit";
const ANSWER_MS = 10_000;
const ANSWER_BYTES = 4096;

/**
 * Asks the gateway how long the model API's rate limit lasts.
 *
 * @returns milliseconds, 0 when it is over by now; undefined when there was none, it is not known how long, or the gateway
 * does not answer.
 */
export function remainingLimit(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request(
      { socketPath, path: LIMIT_PATH, host: "guardloop", timeout: ANSWER_MS, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text = (text + chunk).slice(0, ANSWER_BYTES);
        });
        response.on("end", () => resolve(response.statusCode === 200 ? waitIn(text) : undefined));
        response.on("error", () => resolve(undefined));
      },
    );
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(undefined));
    asked.end();
  });
}

function waitIn(text: string): number | undefined {
  try {
    const { waitMs }: { readonly waitMs?: unknown } = JSON.parse(text);
    return typeof waitMs === "number" && Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined;
  } catch {
    return undefined;
  }
}
