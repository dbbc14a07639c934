import type { LaunchRequest } from "./port.ts";

/**
 * Linux refuses a single argument of 128 KiB or more (MAX_ARG_STRLEN, execve(2)); the rest is room for a
 * launcher that wraps it.
 */
const MAX_ARGUMENT_BYTES = 100 * 1024;

/**
 * The prompt as one argument. A prompt that no argument can hold (too long, or with a NUL in it) becomes a
 * sentence that names the prompt's file: the agent then needs one more step to read it.
 */
export function promptArgument(request: Pick<LaunchRequest, "prompt" | "promptPath">): string {
  const { prompt, promptPath } = request;
  if (Buffer.byteLength(prompt) <= MAX_ARGUMENT_BYTES && !prompt.includes("\0")) return prompt;
  return `Read the whole file ${promptPath} and do exactly what it says: it holds your instructions.`;
}
