/** A tool whose result has not come yet. A file is told when its change has happened. */
export type PendingTool =
  | { readonly kind: "shell" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "other" };
