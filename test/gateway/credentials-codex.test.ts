import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { type Home, credentialOf, homeWith, missing } from "./credentials-rig.ts";

const NOW = new Date("2026-11-29T10:00:00Z");
const ACCOUNT = "account-4711";
const codex = { agent: "codex", provider: "openai", now: () => NOW } as const;

/** A token that ends so many minutes from now; unsigned, which only the provider would mind. */
function token(name: string, minutes: number): string {
  const exp = Math.floor(NOW.getTime() / 1000) + minutes * 60;
  const part = (data: unknown) => Buffer.from(JSON.stringify(data)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ exp, name })}.secretpart${name}`;
}

async function loggedIn(minutes: number, more: object = {}): Promise<Home> {
  const home = await homeWith();
  await mkdir(join(home.path, ".codex"), { mode: 0o700 });
  const auth = {
    OPENAI_API_KEY: null,
    tokens: {
      id_token: token("id", 60),
      access_token: token("old", minutes),
      refresh_token: "rt-first",
      account_id: ACCOUNT,
      future_field: "kept",
    },
    last_refresh: "2026-11-20T00:00:00Z",
    another_field: [1],
    ...more,
  };
  await writeFile(authPath(home), JSON.stringify(auth), { mode: 0o600 });
  return home;
}

function authPath(home: Home): string {
  return join(home.path, ".codex/auth.json");
}

async function stored(home: Home): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(authPath(home), "utf8"));
}

type Answer = (token: string, response: ServerResponse) => void | Promise<void>;

/** The provider's token endpoint, on loopback: remembers which refresh tokens came. */
async function endpoint(answer: Answer) {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await text(request)) as Record<string, string>;
      expect(request.method).toBe("POST");
      expect(body).toMatchObject({ grant_type: "refresh_token" });
      asked.push(body["refresh_token"] ?? "");
      await answer(body["refresh_token"] ?? "", response);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, codexRefresh: { tokenUrl: `http://127.0.0.1:${port}/oauth/token` } };
}

/** A refresh token is good for one use, as at the provider. */
function rotating(): Answer {
  const used = new Set<string>();
  return (refresh, response) => {
    if (used.has(refresh)) return refused("refresh_token_reused")(refresh, response);
    used.add(refresh);
    response.end(
      JSON.stringify({
        id_token: token("new-id", 60),
        access_token: token("new", 60),
        refresh_token: "rt-second",
      }),
    );
  };
}

function refused(code: string): Answer {
  return (refresh, response) => {
    response.statusCode = 401;
    response.end(JSON.stringify({ error: { code, message: `${refresh} was refused` } }));
  };
}

test("a login that is good for a while is used as it is", async () => {
  const home = await loggedIn(6);
  const { asked, codexRefresh } = await endpoint(refused("never"));
  const { credential } = await credentialOf("login:codex", { home, ...codex, codexRefresh });
  expect(await credential.value()).toEqual({
    ok: true,
    value: {
      kind: "bearer",
      secret: token("old", 6),
      headers: { "chatgpt-account-id": ACCOUNT },
    },
  });
  expect(credential.shown).toBe("login:codex");
  expect(credential.secrets()).toEqual([token("old", 6), "rt-first", token("id", 60)]);
  expect(asked).toEqual([]);
});

test("a login that ends within five minutes is renewed, and everything else in the file stays", async () => {
  const home = await loggedIn(4);
  await chmod(authPath(home), 0o640);
  const { asked, codexRefresh } = await endpoint(rotating());
  const { credential } = await credentialOf("login:codex", { home, ...codex, codexRefresh });
  const value = await credential.value();
  expect(value.ok && value.value.secret).toBe(token("new", 60));
  expect(asked).toEqual(["rt-first"]);
  expect(await stored(home)).toEqual({
    OPENAI_API_KEY: null,
    tokens: {
      id_token: token("new-id", 60),
      access_token: token("new", 60),
      refresh_token: "rt-second",
      account_id: ACCOUNT,
      future_field: "kept",
    },
    last_refresh: NOW.toISOString(),
    another_field: [1],
  });
  expect((await stat(authPath(home))).mode & 0o777).toBe(0o640);
  // What was ever used stays known, so that it is taken out of what comes later.
  expect(credential.secrets()).toEqual(
    expect.arrayContaining([token("old", 4), "rt-first", token("new", 60), "rt-second"]),
  );
});

test("a link to the file stays a link", async () => {
  const home = await loggedIn(1);
  await rename(authPath(home), join(home.path, "real.json"));
  await symlink("../real.json", authPath(home));
  const { codexRefresh } = await endpoint(rotating());
  await credentialOf("login:codex", { home, ...codex, codexRefresh });
  const real = JSON.parse(await readFile(join(home.path, "real.json"), "utf8"));
  expect(real.tokens.refresh_token).toBe("rt-second");
  expect((await stored(home))["tokens"]).toEqual(real.tokens);
});

test("of many callers at once, in one credential and in several, one renews", async () => {
  const home = await loggedIn(1);
  const { asked, codexRefresh } = await endpoint(rotating());
  const all = await Promise.all(
    [1, 2, 3, 4].map(() => credentialOf("login:codex", { home, ...codex, codexRefresh })),
  );
  const values = await Promise.all(
    all.flatMap(({ credential }) => [credential.value(), credential.value()]),
  );
  for (const value of values) expect(value.ok && value.value.secret).toBe(token("new", 60));
  expect(asked).toEqual(["rt-first"]);
});

test("of several processes at once, one renews", async () => {
  const home = await loggedIn(1);
  const waiting: (() => void)[] = [];
  const rotate = rotating();
  const { asked, codexRefresh } = await endpoint(async (refresh, response) => {
    await new Promise<void>((go) => waiting.push(go));
    await rotate(refresh, response);
  });
  const children = [1, 2, 3].map(() => reader(home, codexRefresh.tokenUrl));
  const said = children.map((child) => text(child.stdout!));
  // All of them are at work before the first is answered.
  await Promise.all(children.map((child) => once(child.stderr!, "data")));
  const release = setInterval(() => waiting.shift()?.(), 20);
  onTestFinished(() => clearInterval(release));
  expect(await Promise.all(said)).toEqual([1, 2, 3].map(() => token("new", 60)));
  expect(asked).toEqual(["rt-first"]);
});

/** Another guardloop: the built program's own code in a process of its own. */
function reader(home: Home, tokenUrl: string): ChildProcess {
  const dist = (path: string) => JSON.stringify(resolve("dist", path));
  const script = `
import { hostEnvironment } from ${dist("config/environment.js")};
import { readCredential } from ${dist("gateway/credentials/read-credential.js")};
process.stderr.write("ready");
const read = await readCredential({ kind: "login", name: "codex" }, {
  env: hostEnvironment(), provider: "openai", agent: "codex",
  now: () => new Date(${JSON.stringify(NOW.toISOString())}),
  onNotice: (sentence) => { throw new Error(sentence); },
  codexRefresh: { tokenUrl: ${JSON.stringify(tokenUrl)} },
});
if (!read.ok) throw new Error(read.error.message);
const value = await read.value.value();
process.stdout.write(value.ok ? value.value.secret : value.error);
`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env: { HOME: home.path, PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("a login that was refused says to log in again, and holds nothing of a token", async () => {
  for (const code of ["refresh_token_reused", "refresh_token_expired", "something_else"]) {
    const home = await loggedIn(1);
    const { codexRefresh } = await endpoint(refused(code));
    const failure = await missing("login:codex", { home, ...codex, codexRefresh });
    const why = code === "something_else" ? "status 401" : code;
    expect(failure.message).toBe(
      `The credential of credential.openai = login:codex cannot be used: the login in ${authPath(home)} is over (${why}); run \`codex login\` again.`,
    );
    expect(failure.cure).toContain("codex login");
    const said = JSON.stringify(failure);
    for (const part of ["rt-first", "secretpart", ACCOUNT]) expect(said).not.toContain(part);
  }
});

test("what Codex itself renewed meanwhile is used in place of what was refused", async () => {
  const home = await loggedIn(1);
  const { codexRefresh } = await endpoint(async (refresh, response) => {
    // Codex asks for no lock: it was faster.
    const auth = await stored(home);
    const tokens = {
      ...(auth["tokens"] as object),
      access_token: token("codex", 60),
      refresh_token: "rt-codex",
    };
    await writeFile(authPath(home), JSON.stringify({ ...auth, tokens }));
    await refused("refresh_token_reused")(refresh, response);
  });
  const { credential } = await credentialOf("login:codex", { home, ...codex, codexRefresh });
  const value = await credential.value();
  expect(value.ok && value.value.secret).toBe(token("codex", 60));
});

test("while the provider cannot be reached, a login is used to its last minute, and then no more", async () => {
  const down = { codexRefresh: { tokenUrl: "http://127.0.0.1:1/oauth/token" } };
  const home = await loggedIn(1);
  const { credential } = await credentialOf("login:codex", { home, ...codex, ...down });
  const value = await credential.value();
  expect(value.ok && value.value.secret).toBe(token("old", 1));
  const failure = await missing("login:codex", { home: await loggedIn(-1), ...codex, ...down });
  expect(failure.message).toContain(
    "has ended, and it could not be renewed (ECONNREFUSED); try again later.",
  );
});

test("an answer that is no token, and a redirect, are not taken for one", async () => {
  const answers: readonly Answer[] = [
    (_, response) => void response.end("rt-first is not JSON"),
    (_, response) => void response.end(JSON.stringify({ access_token: "two\nlines" })),
    (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    (_, response) =>
      void response.end(
        JSON.stringify({ access_token: token("new", 60), padding: "x".repeat(300_000) }),
      ),
  ];
  for (const answer of answers) {
    const home = await loggedIn(-1);
    const { codexRefresh } = await endpoint(answer);
    const { message } = await missing("login:codex", { home, ...codex, codexRefresh });
    expect(message).toContain("could not be renewed (");
    expect(message).not.toContain("rt-first");
    expect((await stored(home))["last_refresh"]).toBe("2026-11-20T00:00:00Z");
  }
});

test("a renewed login that cannot be written is used, and said", async () => {
  const home = await loggedIn(1);
  const { codexRefresh } = await endpoint(async (refresh, response) => {
    await rm(join(home.path, ".codex"), { recursive: true });
    await rotating()(refresh, response);
  });
  const { credential, notices } = await credentialOf("login:codex", {
    home,
    ...codex,
    codexRefresh,
  });
  const value = await credential.value();
  expect(value.ok && value.value.secret).toBe(token("new", 60));
  expect(notices).toEqual([
    `The renewed login could not be written to ${authPath(home)} (ENOENT): this run goes on with it, but run \`codex login\` again afterwards.`,
  ]);
});

test("no login, an API key in its place, and a file that is broken", async () => {
  const said = async (home: Home) => (await missing("login:codex", { home, ...codex })).message;
  const nobody = await homeWith();
  expect(await said(nobody)).toContain(`${authPath(nobody)} is not there; run \`codex login\`.`);
  expect(await said(await loggedIn(60, { tokens: null }))).toContain("holds no ChatGPT login");
  const half = await loggedIn(60, { tokens: { access_token: "a", account_id: "b" } });
  expect(await said(half)).toContain("holds no complete ChatGPT login");
  const broken = await loggedIn(60);
  await writeFile(authPath(broken), '{"tokens": {"refresh_token": "rt-first"');
  expect(await said(broken)).toContain("is not JSON");
  expect(await said(broken)).not.toContain("rt-first");
});

test("CODEX_HOME is where the login is, as for Codex", async () => {
  const elsewhere = await loggedIn(60);
  const home = await homeWith({ CODEX_HOME: join(elsewhere.path, ".codex") });
  const { credential } = await credentialOf("login:codex", { home, ...codex });
  expect(credential.secrets()).toContain("rt-first");
});
