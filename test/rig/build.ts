import { execFileSync } from "node:child_process";

/** Vitest's global set-up: the black-box tests run the built program, so it is built once before them. */
export default function build(): void {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
