import { GOOD_AGENT } from "./world.ts";

/** Its first run commits a file of its own where setup makes one; the second expects that one to be there. */
export const AGENT_WITH_MADE = `${GOOD_AGENT}
if [ "$id" = T1 ]; then printf 'ours\\n' > made.txt; git add -f made.txt; git -c user.name=A -c user.email=a@b.invalid commit -q -m Part; else test "$(cat made.txt)" = ours; fi`;
