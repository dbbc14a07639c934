/** What was agreed for one container; sizes in bytes. */
export interface Agreed {
  readonly uid: number;
  readonly gid: number;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpBytes: number;
  readonly homeBytes: number;
}
