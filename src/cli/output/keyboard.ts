/** The keys of a terminal, one by one, as they are pressed. */
export interface Keyboard {
  /** Until it is disposed of, Ctrl-C is a key like any other (`\u0003`) and no signal. */
  readonly listen: (onKey: (key: string) => void) => Disposable;
}

export interface TerminalInput {
  readonly isTTY?: boolean;
  readonly setRawMode: (raw: boolean) => unknown;
  readonly on: (event: "data", listener: (chunk: Buffer) => void) => unknown;
  readonly off: (event: "data", listener: (chunk: Buffer) => void) => unknown;
  readonly resume: () => unknown;
  readonly pause: () => unknown;
}

/** Undefined where standard input is not a terminal. Node itself puts the terminal back when the process ends. */
export function keyboardOf(input: TerminalInput): Keyboard | undefined {
  if (input.isTTY !== true) return undefined;
  return {
    listen(onKey) {
      const onData = (chunk: Buffer): void => {
        for (const key of chunk.toString("utf8")) onKey(key);
      };
      input.setRawMode(true);
      input.on("data", onData);
      input.resume();
      return {
        [Symbol.dispose](): void {
          input.off("data", onData);
          input.setRawMode(false);
          input.pause();
        },
      };
    },
  };
}
