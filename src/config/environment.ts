import { hostname, tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import type { HostEnvironment, ProxySettings } from "../core/environment.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const DOCKER_NAMES = [
  "DOCKER_HOST",
  "DOCKER_CONTEXT",
  "DOCKER_CONFIG",
  "DOCKER_CERT_PATH",
  "DOCKER_TLS_VERIFY",
] as const;

/** What pagers look at, besides PATH and HOME. */
const TERMINAL_NAMES =
  /^(?:TERM|COLORTERM|TERMINFO|TERMINFO_DIRS|TERMCAP|COLUMNS|LINES|LANG|LANGUAGE|LC_[A-Z]+|LESS[A-Z_]*|LV|MORE|BAT_[A-Z_]+|DELTA_[A-Z_]+|TMPDIR|XDG_[A-Z]+_HOME)$/;
const PODMAN_NAMES = [
  "CONTAINERS_CONF",
  "CONTAINERS_CONF_OVERRIDE",
  "CONTAINERS_REGISTRIES_CONF",
  "CONTAINERS_STORAGE_CONF",
  // These name another machine: handed on so that such a Podman is seen and refused, not passed by in silence.
  "CONTAINER_CONNECTION",
  "CONTAINER_HOST",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
] as const;

const DESKTOP_NAMES = [
  "DBUS_SESSION_BUS_ADDRESS",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "LANG",
] as const;

/** The environment of this process. Everything else gets it as an argument. */
export function hostEnvironment(): HostEnvironment {
  // oxlint-disable-next-line node/no-process-env -- the one place that reads it
  return readHostEnvironment(process.env);
}

/**
 * Picks what guardloop needs out of a process environment. Takes a copy: later changes are not seen.
 *
 * Directories follow the XDG Base Directory Specification, which says that a relative path in such a variable is
 * invalid and to be ignored. `NO_COLOR` counts when it is not empty (no-color.org).
 */
export function readHostEnvironment(processEnv: Variables): HostEnvironment {
  const variables = { ...processEnv };
  const account = passwdEntry();
  const home = absolute(variables["HOME"]) ?? account?.homedir ?? "/nonexistent";
  const configHome = absolute(variables["XDG_CONFIG_HOME"]);
  return {
    path: variables["PATH"] ?? "",
    home,
    ...ownDirectories(variables, home),
    hostname: hostname(),
    noColor: (variables["NO_COLOR"] ?? "") !== "",
    user: account?.username ?? filled(variables["USER"]) ?? "unknown",
    docker: pick(variables, (name) => DOCKER_NAMES.some((known) => known === name)),
    podman: pick(variables, (name) => PODMAN_NAMES.some((known) => known === name)),
    guard: pick(variables, (name) => name.startsWith("GUARD_"), "keep-empty"),
    pager: pick(variables, (name) => name === "GIT_PAGER" || name === "PAGER", "keep-empty"),
    terminal: pick(variables, (name) => TERMINAL_NAMES.test(name), "keep-empty"),
    desktop: pick(variables, (name) => DESKTOP_NAMES.some((known) => known === name)),
    git: configHome === undefined ? {} : { XDG_CONFIG_HOME: configHome },
    proxy: proxySettings(variables),
    read: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
  };
}

function ownDirectories(
  variables: Variables,
  home: string,
): Pick<HostEnvironment, "stateDir" | "configDir" | "runtimeDir" | "tempDir"> {
  const stateHome = absolute(variables["XDG_STATE_HOME"]) ?? join(home, ".local", "state");
  const configHome = absolute(variables["XDG_CONFIG_HOME"]) ?? join(home, ".config");
  return {
    stateDir: join(stateHome, "guardloop"),
    configDir: join(configHome, "guardloop"),
    runtimeDir: absolute(variables["XDG_RUNTIME_DIR"]),
    tempDir: absolute(variables["TMPDIR"]) ?? tmpdir(),
  };
}

/** Undefined for a uid that no passwd entry names, as in many containers. */
function passwdEntry(): { readonly homedir: string; readonly username: string } | undefined {
  try {
    return userInfo();
  } catch {
    return undefined;
  }
}

/**
 * As curl(1) does it: lower case wins, an empty variable counts as not set, and ALL_PROXY stands in for the other two.
 * A certificate file that is named by a relative path is not looked for.
 */
function proxySettings(variables: Variables): ProxySettings {
  const named = (name: string): string | undefined =>
    filled(variables[name.toLowerCase()]) ?? filled(variables[name]);
  const files = [variables["NODE_EXTRA_CA_CERTS"], variables["SSL_CERT_FILE"]].map(absolute);
  return {
    httpsProxy: named("HTTPS_PROXY") ?? named("ALL_PROXY"),
    httpProxy: named("HTTP_PROXY") ?? named("ALL_PROXY"),
    noProxy: named("NO_PROXY") ?? "",
    caFiles: [...new Set(files.filter((file) => file !== undefined))],
  };
}

function filled(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function absolute(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined;
}

function pick(
  variables: Variables,
  wanted: (name: string) => boolean,
  empty: "keep-empty" | "drop-empty" = "drop-empty",
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || !wanted(name)) continue;
    if (value !== "" || empty === "keep-empty") picked[name] = value;
  }
  return picked;
}
