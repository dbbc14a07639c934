import { z } from "zod";
import { setting } from "../setting.ts";

export const authorship = setting({
  key: "import.authorship",
  guard: "GUARD_AUTHORSHIP",
  flag: { name: "--authorship", takes: "HOW" },
  kind: "text",
  schema: z.enum(["keep", "replace"]),
  expects: "one of keep, replace",
  standard: "keep",
  description:
    "Whether a commit keeps an author who is not the agent (keep) or gets the agent's (replace).",
  loosening: "never",
});
