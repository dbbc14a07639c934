import type { AgentAdapter, AgentEvent } from "../agents/port.ts";
import type { HostEnvironment } from "../core/environment.ts";
import type { EgressEntry } from "../core/egress.ts";
import type { StoredEvent } from "../core/events.ts";
import type { Engine } from "../engine/port.ts";
import type { Principal } from "../git/principal.ts";
import type { History } from "../history/port.ts";
import type { LeasePool } from "../lease/port.ts";
import type { GatewayServices } from "./egress/gateway-services.ts";
import type { Redactor } from "./logs/redactor.ts";
import type { RunPaths } from "./paths.ts";
import type { HeldSecrets } from "./review/gateway-secrets.ts";
import type { envFiles } from "./review/secrets-in-use.ts";

/** What a run tells while it goes on; the command line and the history are readers of the same events. */
export type Progress =
  | { readonly type: "event"; readonly stored: StoredEvent }
  /** A chunk of the agent's output; untrusted bytes. */
  | { readonly type: "agent-output"; readonly runId: string; readonly chunk: Buffer }
  /** What the agent's adapter understood of it; untrusted text. */
  | {
      readonly type: "agent-event";
      readonly runId: string;
      readonly at: string;
      readonly event: AgentEvent;
    }
  /** A request through the gateway is over; untrusted text in it. */
  | { readonly type: "egress"; readonly runId: string; readonly entry: EgressEntry }
  | { readonly type: "notice"; readonly runId: string | null; readonly text: string };

/** What stages work with; handed in, so that nothing in the flow reaches for the outside by itself. */
export interface RunServices {
  readonly env: HostEnvironment;
  /** Absolute path of git. */
  readonly gitProgram: string;
  readonly principal: Principal;
  readonly engine: Engine;
  readonly leases: LeasePool;
  readonly history: History;
  readonly adapter: AgentAdapter;
  readonly paths: RunPaths;
  /** Missing where no run of the invocation has a gateway, and where a run is only brought to its end. */
  readonly gateway?: GatewayServices | undefined;
  /** The bundled guest, copied into each run's job directory. */
  readonly guestBundle: string;
  /** The program that removes in the background; without it everything is removed at once. */
  readonly remover?: string | undefined;
  readonly now: () => Date;
  readonly report: (progress: Progress) => void;
  /** The credential that the gateway adds, to be kept out of everything that is written down. */
  readonly credential?: HeldSecrets | undefined;
  /** See `ReviewServices`. */
  readonly envFilesAtStart?: ReturnType<typeof envFiles> | undefined;
  /** Made once, when the run begins; see `redactorInUse`. */
  readonly redactor?: Redactor | undefined;
  /** Aborted by Ctrl-C or SIGTERM: the run ends in order. */
  readonly signal: AbortSignal;
}
