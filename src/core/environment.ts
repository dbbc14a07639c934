/** What guardloop takes from its own environment; read once, in config/environment.ts. */
export interface HostEnvironment {
  readonly path: string;
  readonly home: string;
  /** `$XDG_STATE_HOME/guardloop`. */
  readonly stateDir: string;
  /** `$XDG_CONFIG_HOME/guardloop`. */
  readonly configDir: string;
  readonly hostname: string;
  readonly noColor: boolean;
  readonly user: string;
  /** DOCKER_HOST, DOCKER_CONTEXT and DOCKER_CONFIG where set: the engine's client needs them. */
  readonly docker: Readonly<Record<string, string>>;
  /** What Podman's client needs to find its storage, its configuration and the user's session, where set. */
  readonly podman: Readonly<Record<string, string>>;
  /** Every variable that begins with GUARD_. */
  readonly guard: Readonly<Record<string, string>>;
  /** GIT_PAGER and PAGER where set, empty ones too. */
  readonly pager: Readonly<Record<string, string>>;
  /** What a program on the terminal goes by: TERM, the locale, LESS, LV and the like. */
  readonly terminal: Readonly<Record<string, string>>;
  /** What a program of the user's desktop needs to find it, for notifications. */
  readonly desktop: Readonly<Record<string, string>>;
  /** XDG_CONFIG_HOME where set: the user's own Git reads its configuration there. */
  readonly git: Readonly<Record<string, string>>;
  /** XDG_RUNTIME_DIR where it is set to an absolute path: a directory of this user that goes with the session. */
  readonly runtimeDir: string | undefined;
  /** The system's directory for temporary files. */
  readonly tempDir: string;
  readonly proxy: ProxySettings;
  /** Reads one variable that the user named with --pass-env. */
  readonly read: (name: string) => string | undefined;
}

/** How programs of this user reach the internet, by the variables that curl and others go by. */
export interface ProxySettings {
  /** Of HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, as written; they may hold a password, so they are never printed. */
  readonly httpsProxy: string | undefined;
  readonly httpProxy: string | undefined;
  /** Of NO_PROXY: hosts, with commas or blanks between them. */
  readonly noProxy: string;
  /** Files with certificates to trust besides the usual ones: NODE_EXTRA_CA_CERTS and SSL_CERT_FILE. */
  readonly caFiles: readonly string[];
}
