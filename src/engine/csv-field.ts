/** An engine reads `--mount` as one CSV record: a field with a comma or a quote must be quoted. */
export function csvField(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
