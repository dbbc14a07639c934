import type { EngineKind } from "../core/run-spec.ts";

/**
 * Link-local addresses at which clouds hand out a machine's credentials to whoever asks on it: most clouds, and AWS for
 * its containers (ECS, EKS). An address that a container has itself leads nowhere else.
 */
const BY_ADDRESS = ["169.254.169.254", "169.254.170.2", "169.254.170.23"] as const;
/** Names of the same that programs use. */
const BY_NAME = ["metadata.google.internal", "instance-data.ec2.internal"] as const;
/** Neither is link-local, so no engine takes it as such: Alibaba Cloud, and AWS by IPv6. */
const IN_REACH = ["100.100.100.200", "fd00:ec2::254"] as const;

/**
 * Arguments that close the ways to cloud metadata in a container with a real network, as far as the engine can without
 * a capability for the container or root on the host. Docker gives the container those addresses as its own; Podman has
 * no such argument, so only the names lead nowhere.
 */
export function metadataArguments(kind: EngineKind): readonly string[] {
  const names = BY_NAME.map((name) => `--add-host=${name}:0.0.0.0`);
  if (kind === "podman") return names;
  return [...BY_ADDRESS.map((address) => `--link-local-ip=${address}`), ...names];
}

export interface MetadataReach {
  /** Addresses and names that lead nowhere. */
  readonly blocked: readonly string[];
  readonly inReach: readonly string[];
}

/** What of cloud metadata a container with a real network can reach. */
export function metadataReach(kind: EngineKind): MetadataReach {
  return kind === "docker"
    ? { blocked: [...BY_ADDRESS, ...BY_NAME], inReach: IN_REACH }
    : { blocked: BY_NAME, inReach: [...BY_ADDRESS, ...IN_REACH] };
}
