import { shellWord } from "../../config/shell-word.ts";
import { type Attack, type AttackAgent, type Seen, failed, held, skipped } from "../attack.ts";
import { importedFile } from "../expect.ts";
import { PROBE_FILE, type Place } from "../place.ts";
import { POSTURE, few, pairs } from "../posture.ts";
import type { Found, Targets } from "../probe/found.ts";
import { lastLine, scripted } from "./shell.ts";

const RESULT = "posture.json";

/** The probe as an agent; what it finds comes back as a file of the branch. */
const probing: AttackAgent = {
  script: (place) =>
    scripted(`node ${PROBE_FILE} ${RESULT} ${shellWord(JSON.stringify(targetsIn(place)))}`),
};

function targetsIn(place: Place): Targets {
  return {
    // An address of the internet, and the one at which clouds hand out credentials.
    addresses: ["1.1.1.1:443", "169.254.169.254:80"],
    names: ["example.com"],
    variable: place.variable,
    file: place.secretFile,
  };
}

type Judge = (found: Found, seen: Seen) => ReturnType<typeof held>;

function probe(name: string, tries: string, judge: Judge): Attack {
  return {
    name,
    tries,
    agent: probing,
    expect: async (seen) => {
      const { ended } = seen;
      if (!ended.ok) return failed(`the probe did not come back: ${ended.error.message}`);
      const text = await importedFile(ended.value, seen, RESULT);
      if (text === undefined) return failed(`the probe did not end: ${lastLine(seen.log)}`);
      const found = parsed(text);
      return found === undefined ? failed("the probe's answer cannot be read") : judge(found, seen);
    },
  };
}

function parsed(text: string): Found | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own probe wrote it
    return JSON.parse(text) as Found;
  } catch {
    return undefined;
  }
}

/** Attacks that a network makes pointless, with what the user asked for instead. */
const NEEDS_NO_NETWORK = new Set(["network", "outside", "lookup"]);

function unlessOpened(name: string, judge: Judge): Judge {
  if (!NEEDS_NO_NETWORK.has(name)) return judge;
  return (found, seen) =>
    seen.spec.network === "none"
      ? judge(found, seen)
      : skipped("your settings open a network to the container");
}

const agreedParts = POSTURE.map(({ name, tries, holds, notShown, seen: say }) =>
  probe(
    name,
    tries,
    unlessOpened(name, (found, { spec }) => {
      const why = notShown?.(found);
      if (why !== undefined) return skipped(why);
      const what = say(found, spec.container);
      return holds(found, spec.container) ? held(what) : failed(what);
    }),
  ),
);

const PRIVILEGED_CALLS = {
  mount: "mounts a file system",
  mknod: "makes a device",
  unshare: "makes a user namespace, in which it would be root",
} as const;

const more: readonly Attack[] = [
  probe(
    "lookup",
    "looks up the address of a name",
    unlessOpened("lookup", ({ lookups }) =>
      Object.values(lookups).every((how) => /^E[A-Z_]+$/.test(how))
        ? held(few(pairs(lookups)))
        : failed(few(pairs(lookups))),
    ),
  ),
  probe("kernel-files", "reads what the kernel shows of the host", ({ unmasked }) =>
    Object.keys(unmasked).length === 0 ? held("hidden") : failed(few(Object.keys(unmasked))),
  ),
  probe("host-variable", "looks for a variable of guardloop's own environment", ({ ofTheHost }) =>
    ofTheHost.variableIn.length === 0
      ? held("not in its environment, nor in that of any process it sees")
      : failed(`it stands in ${few(ofTheHost.variableIn)}`),
  ),
  probe("host-file", "reads a file beside the checkout, by every way in", ({ ofTheHost }) =>
    ofTheHost.files.length === 0
      ? held("not there")
      : failed(`it can be read as ${few(ofTheHost.files)}`),
  ),
  ...(["mount", "mknod", "unshare"] as const).map((call) =>
    probe(call, PRIVILEGED_CALLS[call], ({ privileged }) => {
      if (privileged[call] === "no such program") return skipped(`the image has no ${call}`);
      return privileged[call] === "refused" ? held("refused") : failed("it worked");
    }),
  ),
];

/** What the probe finds, an attack for each part. */
export const POSTURE_ATTACKS: readonly Attack[] = [...agreedParts, ...more];
