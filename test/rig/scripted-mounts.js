// How the scripted engine reads the mounts of a container, and stands overlays up on the host.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Every mount by its target: where it is on the host, or for an overlay a directory for it and its options. */
export function mountsIn(values) {
  return Object.fromEntries(
    values.map((mount) => {
      const all = csv(mount).map((field) => field.split(/=(.*)/s));
      const fields = Object.fromEntries(all);
      if (fields.type !== "volume") return [fields.target, { source: fields.source }];
      const options = all
        .filter(([key, text]) => key === "volume-opt" && text.startsWith("o="))
        .map(([, text]) => text.slice(2))[0];
      return [fields.dst, { source: mkdtempSync(join(tmpdir(), "scripted-overlay-")), options }];
    }),
  );
}

/**
 * A command in a mount namespace of its own with the overlays of this container; they go with its last process. The
 * process keeps its id from the first program to the last.
 */
export function withOverlays(given, command) {
  const overlays = Object.values(given).filter(({ options }) => options !== undefined);
  if (overlays.length === 0) return command;
  const mounting = 'while [ "$1" != -- ]; do mount -t overlay overlay -o "$1" "$2"; shift 2; done';
  // As prepareJob does it where it can.
  const finding =
    '[ ! -e .git/objects/info/alternates ] || echo "$store" >.git/objects/info/alternates';
  const script = `store=$1; shift; ${mounting}; shift; cd "$PWD"; ${finding}; exec "$@"`;
  const store = `${given["/guardloop/base.git"]?.source}/objects`;
  const pairs = overlays.flatMap(({ options, source }) => [options, source]);
  const namespace = ["unshare", "--mount", "--propagation=private"];
  return [...namespace, "sh", "-ec", script, "sh", store, ...pairs, "--", ...command];
}

/** The kernel mounts no work directory twice that was mounted as volatile: for another look at what a container left. */
export function letMountAgain(given) {
  for (const { options } of Object.values(given)) {
    const work = /(?:^|,)workdir=([^,]+)/.exec(options ?? "")?.[1];
    if (work !== undefined) rmSync(join(work, "work"), { recursive: true, force: true });
  }
}

/** The engine reads `--mount` as one CSV record: a field with a comma or a quote is quoted, quotes are doubled. */
function csv(record) {
  const fields = record.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return Array.from(fields, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
}
