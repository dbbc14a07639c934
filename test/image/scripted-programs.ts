import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readHostEnvironment } from "../../src/config/environment.ts";
import { type BuildImageOptions, buildImage } from "../../src/engine/image/build.ts";

export const imageDir = join(import.meta.dirname, "..", "..", "image");

/** A docker client that keeps images as files: `images/NAME` holds what `image inspect` prints. */
const DOCKER = `
echo "docker $*" >>"$STAGE/calls"
label() { sed 's/=/":"/; s/^/"/; s/$/"/' | paste -sd, ; }
remember() { printf '{"Id":"sha256:new","Size":7,"Config":{"Labels":{%s}}}' "$2" >"$STAGE/images/$1"; }
case $1 in
  info) echo '{"OSType":"linux","SecurityOptions":["name=seccomp,profile=default"]}' ;;
  image)
    [ "$2" = inspect ] || exit 0
    [ ! -e "$STAGE/engine-down" ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }
    [ -e "$STAGE/images/$5" ] || { echo "Error: No such image: $5" >&2; exit 1; }
    cat "$STAGE/images/$5" ;;
  pull)
    [ -e "$STAGE/registry" ] || { echo "Error response from daemon: no such host" >&2; exit 1; }
    echo "22: Pulling from library/node" ;;
  run) cat "$STAGE/has" ;;
  build)
    for last in "$@"; do :; done
    [ ! -f "$last/Dockerfile" ] || cp "$last/Dockerfile" "$STAGE/Dockerfile"
    [ ! -e "$STAGE/build-fails" ] || { echo "Step 5/9"; echo "apt-get: no space left" >&2; exit 1; }
    remember "$4" "$(for a in "$@"; do case $a in guardloop.*) echo "$a" ;; esac; done | label)" ;;
  import)
    for last in "$@"; do :; done
    for a in "$@"; do case $a in *.tar) tar -tvf "$a" --numeric-owner >"$STAGE/archive" ;; esac; done
    remember "$last" "$(for a in "$@"; do case $a in LABEL*) echo "\${a#LABEL }" ;; esac; done | label)" ;;
esac
`;

const DEBOOTSTRAP = `
echo "debootstrap $*" >>"$STAGE/calls"
for root in "$@"; do :; done
mkdir -p "$root"/etc "$root"/tmp "$root"/usr/local/bin "$root"/usr/share/doc/git "$root"/var/lib/apt/lists
echo secret-host >"$root"/etc/hostname
echo x >"$root"/usr/share/doc/git/copyright
echo x >"$root"/usr/share/doc/git/changelog.gz
echo x >"$root"/var/lib/apt/lists/index
`;

const NPM = `
echo "npm $*" >>"$STAGE/calls"
[ ! -e "$STAGE/npm-down" ] || exit 1
[ "$1" = install ] || exit 0
prefix=$(printf '%s\n' "$@" | sed -n 's/^--prefix=//p')
for package in "$@"; do case $package in
  node-linux-*) d=$prefix/lib/node_modules/\${package%@*}; mkdir -p "$d/bin"; echo node >"$d/bin/node"; echo MIT >"$d/LICENSE" ;;
esac; done
`;

/** A stage of scripted programs, first on PATH, with a place for their state. */
export async function stageOfPrograms() {
  const stage = await mkdtemp(join(tmpdir(), "guardloop-image-"));
  await mkdir(join(stage, "images"));
  await mkdir(join(stage, "bin"));
  const programs = { docker: DOCKER, debootstrap: DEBOOTSTRAP, npm: NPM };
  for (const [name, text] of Object.entries(programs)) {
    const path = join(stage, "bin", name);
    await writeFile(path, `#!/bin/bash\nSTAGE=${stage}${text}`);
    await chmod(path, 0o755);
  }
  const progress: string[] = [];
  const options: BuildImageOptions = {
    name: "guardloop-agent",
    engine: { kind: "docker", program: join(stage, "bin", "docker") },
    env: readHostEnvironment({ PATH: `${stage}/bin:${process.env["PATH"]}`, HOME: stage }),
    agents: ["claude", "codex"],
    source: "auto",
    rebuild: "when-outdated",
    imageDir,
    workDir: join(stage, "work"),
    onProgress: (line) => progress.push(line),
  };
  return {
    stage,
    progress,
    /** Makes a switch of the scripted programs true, for example `registry`. */
    set: (name: string) => writeFile(join(stage, name), ""),
    build: (changes: Partial<BuildImageOptions> = {}) => buildImage({ ...options, ...changes }),
    calls: async () => (await readFile(join(stage, "calls"), "utf8")).trim().split("\n"),
    read: (name: string) => readFile(join(stage, name), "utf8"),
    [Symbol.asyncDispose]: () => rm(stage, { recursive: true, force: true }),
  };
}
