/** Memory for the bodies of all requests that are under way; the container decides how many and how large they are. */
export interface Room {
  /** Memory of one request, given back when it is disposed of. */
  hold(): HeldRoom;
}

export interface HeldRoom extends Disposable {
  /** False where there is no room for so many bytes more. */
  take(bytes: number): boolean;
}

export function roomOf(limitBytes: number): Room {
  let taken = 0;
  return {
    hold(): HeldRoom {
      let mine = 0;
      return {
        take(bytes: number): boolean {
          if (taken + bytes > limitBytes) return false;
          taken += bytes;
          mine += bytes;
          return true;
        },
        [Symbol.dispose](): void {
          taken -= mine;
          mine = 0;
        },
      };
    },
  };
}
