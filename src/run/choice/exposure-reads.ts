import type { Settings } from "../../config/settings.ts";
import type { FilesSeen } from "../snapshot/files-seen.ts";
import type { Exposure } from "./exposure.ts";

/** The same in every network mode: the network decides where things can go, not what is there. */
export function readsOf(settings: Settings, files: FilesSeen): Exposure["reads"] {
  const secrets = files.inCommit.length;
  const { passEnv } = settings.agent;
  const { directories } = settings.cache;
  return [
    {
      what: "commit",
      text:
        secrets === 0
          ? "every file of the commit that the run starts from"
          : "every file of the commit that the run starts from, with these whose names look like credentials",
      names: files.inCommit,
    },
    {
      what: "history",
      text: "every earlier commit that leads to it, with what was removed since",
      names: [],
    },
    ...(settings.overlay.include.length === 0
      ? []
      : [
          {
            what: "overlay",
            text: "files that Git does not track and a rule lets in",
            names: files.letIn.map(({ path }) => path),
          } as const,
        ]),
    { what: "prompt", text: "its task, the task plan and the prompt", names: [] },
    ...(passEnv.length === 0
      ? []
      : [
          {
            what: "variables",
            text: "variables of yours that are passed",
            names: passEnv,
          } as const,
        ]),
    ...(settings.setup.commands.length === 0
      ? []
      : [{ what: "setup", text: "what the setup commands fetched", names: [] } as const]),
    ...(directories.length === 0
      ? []
      : [{ what: "caches", text: "caches of package managers", names: directories } as const]),
    {
      what: "image",
      text: "the programs and files of the image",
      names: [settings.container.image],
    },
  ];
}
