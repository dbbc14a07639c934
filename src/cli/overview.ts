import { begin as beginWith } from "./main.ts";

/** The part of the bundle that says which commands there are, and which version this is, without any of them. */
export async function begin(): Promise<void> {
  await beginWith({});
}
