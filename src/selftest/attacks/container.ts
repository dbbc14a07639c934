import { type Attack, failed, held } from "../attack.ts";
import { deleting } from "./deleting.ts";
import { LIMITS_OF_USE } from "./limits-of-use.ts";
import { POSTURE_ATTACKS } from "./posture-attacks.ts";
import { scripted } from "./shell.ts";

const endless: Attack = {
  name: "endless",
  tries: "goes on and on, and ignores the polite signal",
  agent: {
    // Bounded all the same: where there is no container it would stay on the host.
    script: () =>
      scripted(`trap '' TERM INT HUP\nn=0; while [ "$n" -lt 90 ]; do sleep 1; n=$((n + 1)); done`),
    bounds: { wallMs: 2_000 },
  },
  expect: ({ ended }) =>
    !ended.ok && ended.error.code === "agent-wall-limit"
      ? held(ended.error.message)
      : failed(`the run ended with ${ended.ok ? "a branch" : ended.error.code}`),
};

/** What an agent can do from inside of its container. */
export const CONTAINER_ATTACKS: readonly Attack[] = [
  ...POSTURE_ATTACKS,
  ...LIMITS_OF_USE,
  endless,
  deleting,
];
