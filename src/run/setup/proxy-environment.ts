import { RELAY_PORTS } from "../../core/network.ts";

const PROXY = `http://127.0.0.1:${RELAY_PORTS.proxy}`;
const DIRECT = "localhost,127.0.0.1,::1";

/**
 * How programs in a container find the proxy to allowed hosts. npm, pnpm, Yarn 1, pip, uv, Poetry, Cargo, Go, Bundler, Composer,
 * curl and Git read the first six; Yarn from 2 on has names of its own, and Node's own fetch wants to be told (Node 24, and
 * 22 from 22.21 on).
 */
export const PROXY_ENVIRONMENT: Readonly<Record<string, string>> = {
  HTTPS_PROXY: PROXY,
  https_proxy: PROXY,
  HTTP_PROXY: PROXY,
  http_proxy: PROXY,
  NO_PROXY: DIRECT,
  no_proxy: DIRECT,
  NODE_USE_ENV_PROXY: "1",
  YARN_HTTP_PROXY: PROXY,
  YARN_HTTPS_PROXY: PROXY,
};
