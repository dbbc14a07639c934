import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/rig/build.ts"],
    // Guards against hanging only: a scenario starts the program dozens of times, on a machine that may be busy.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    // Two cores: the engine's own work would starve more workers than this.
    maxWorkers: 2,
    restoreMocks: true,
    // Real engines and processes on a shared machine: one second try there, which the report names.
    // oxlint-disable-next-line node/no-process-env
    retry: process.env.CI === "true" ? 1 : 0,
    reporters: ["default"],
  },
});
