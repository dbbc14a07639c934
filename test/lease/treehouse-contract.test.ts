import { leasePoolContract } from "../contract/lease-pool.ts";
import { good } from "./expectations.ts";
import { openTreehouse } from "./open-pool.ts";

for (const version of ["v2.3.0", "v3.0.1"])
  leasePoolContract(`treehouse ${version}`, async (repository) =>
    good(await openTreehouse(repository, { version, noise: true })),
  );
