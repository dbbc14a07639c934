import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { readHostEnvironment } from "../../src/config/environment.ts";

test("without XDG variables, state and configuration live below HOME", () => {
  const env = readHostEnvironment({ HOME: "/home/ada", PATH: "/usr/bin" });
  expect(env.stateDir).toBe("/home/ada/.local/state/guardloop");
  expect(env.configDir).toBe("/home/ada/.config/guardloop");
  expect(env.path).toBe("/usr/bin");
  expect(env.git).toEqual({});
});

test("absolute XDG directories are used, and Git is told about its own", () => {
  const env = readHostEnvironment({
    HOME: "/home/ada",
    XDG_STATE_HOME: "/var/ada",
    XDG_CONFIG_HOME: "/etc/ada",
  });
  expect(env.stateDir).toBe("/var/ada/guardloop");
  expect(env.configDir).toBe("/etc/ada/guardloop");
  expect(env.git).toEqual({ XDG_CONFIG_HOME: "/etc/ada" });
});

test.each(["state", "./state", "", "~/state"])(
  "the XDG value %j is not absolute and is ignored",
  (value) => {
    const env = readHostEnvironment({
      HOME: "/home/ada",
      XDG_STATE_HOME: value,
      XDG_CONFIG_HOME: value,
    });
    expect(env.stateDir).toBe("/home/ada/.local/state/guardloop");
    expect(env.configDir).toBe("/home/ada/.config/guardloop");
    expect(env.git).toEqual({});
  },
);

test.each([undefined, "", "relative"])("with HOME %j the account's home is used", (home) => {
  expect(readHostEnvironment({ HOME: home }).home).toBe(userInfo().homedir);
});

test("the docker client's variables are kept where they are set, and nothing else of its kind", () => {
  const env = readHostEnvironment({
    DOCKER_HOST: "tcp://example.invalid:2376",
    DOCKER_CONTEXT: "",
    DOCKER_CERT_PATH: "/certs",
    DOCKER_TLS_VERIFY: "1",
    DOCKER_CONFIG: "/cfg",
    DOCKER_BUILDKIT: "1",
    HTTP_PROXY: "http://proxy.invalid",
  });
  expect(env.docker).toEqual({
    DOCKER_HOST: "tcp://example.invalid:2376",
    DOCKER_CERT_PATH: "/certs",
    DOCKER_TLS_VERIFY: "1",
    DOCKER_CONFIG: "/cfg",
  });
});

test("so are Podman's, with those that would lead it to another machine", () => {
  const env = readHostEnvironment({
    XDG_RUNTIME_DIR: "/run/user/1000",
    CONTAINER_HOST: "ssh://example.invalid",
    CONTAINERS_STORAGE_CONF: "",
    PODMAN_USERNS: "host",
  });
  expect(env.podman).toEqual({
    XDG_RUNTIME_DIR: "/run/user/1000",
    CONTAINER_HOST: "ssh://example.invalid",
  });
});

test.each([
  ["1", true],
  ["0", true],
  ["", false],
  [undefined, false],
])("NO_COLOR %j means no colour: %j", (value, expected) => {
  expect(readHostEnvironment({ NO_COLOR: value }).noColor).toBe(expected);
});

test("every GUARD_ variable is kept, known or not", () => {
  const env = readHostEnvironment({ GUARD_MEMORY: "2g", GUARD_NOTHING: "", GUARDIAN: "x" });
  expect(env.guard).toEqual({ GUARD_MEMORY: "2g", GUARD_NOTHING: "" });
});

test("a single variable is read by name, from the copy taken at the start", () => {
  const variables: Record<string, string> = { API_KEY: "secret" };
  const env = readHostEnvironment(variables);
  variables["API_KEY"] = "changed";
  expect(env.read("API_KEY")).toBe("secret");
  expect(env.read("toString")).toBeUndefined();
});

test("the way to the internet is read as curl reads it", () => {
  const env = readHostEnvironment({
    https_proxy: "http://lower.invalid",
    HTTPS_PROXY: "http://upper.invalid",
    http_proxy: "",
    ALL_PROXY: "http://all.invalid",
    NO_PROXY: "localhost,.corp.invalid",
    NODE_EXTRA_CA_CERTS: "/etc/corp.pem",
    SSL_CERT_FILE: "relative.pem",
  });
  expect(env.proxy).toEqual({
    httpsProxy: "http://lower.invalid",
    httpProxy: "http://all.invalid",
    noProxy: "localhost,.corp.invalid",
    caFiles: ["/etc/corp.pem"],
  });
  expect(readHostEnvironment({}).proxy).toEqual({ noProxy: "", caFiles: [] });
});

test("a runtime directory that is not absolute is none", () => {
  expect(readHostEnvironment({ XDG_RUNTIME_DIR: "/run/user/7" }).runtimeDir).toBe("/run/user/7");
  expect(readHostEnvironment({ XDG_RUNTIME_DIR: "run" }).runtimeDir).toBeUndefined();
  expect(readHostEnvironment({ TMPDIR: "/var/tmp/ada" }).tempDir).toBe("/var/tmp/ada");
});
