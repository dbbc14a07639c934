import { leasePoolContract } from "../contract/lease-pool.ts";
import { openBuiltin } from "./open-pool.ts";

leasePoolContract("built-in pool", (repository) => Promise.resolve(openBuiltin(repository)));
