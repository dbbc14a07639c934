import { readFile } from "node:fs/promises";

/** Hard limits of this process, which its children cannot raise; infinite where the system tells none. See getrlimit(2). */
export async function ownLimits(): Promise<{
  readonly openFiles: number;
  readonly processes: number;
}> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const hard = (name: string): number => {
    const found = new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(text)?.[1];
    return found === undefined ? Infinity : Number(found);
  };
  return { openFiles: hard("Max open files"), processes: hard("Max processes") };
}
