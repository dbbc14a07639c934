import { BlockList, isIP } from "node:net";

/**
 * Where a name from outside must not lead: into this host, its networks, and what is no place of the internet at all.
 * From the registries of special-purpose addresses (RFC 6890 and its updates at IANA); each line names where the range
 * is set aside.
 */
const CLOSED: readonly (readonly [network: string, bits: number, what: string])[] = [
  ["0.0.0.0", 8, "this host"], // RFC 791, RFC 1122
  ["10.0.0.0", 8, "a private network"], // RFC 1918
  ["100.64.0.0", 10, "a carrier's shared network"], // RFC 6598
  ["127.0.0.0", 8, "this host"], // RFC 1122
  ["169.254.0.0", 16, "the local link, with the metadata services of clouds"], // RFC 3927
  ["172.16.0.0", 12, "a private network"], // RFC 1918
  ["192.0.0.0", 24, "reserved"], // RFC 6890
  ["192.0.2.0", 24, "reserved for documentation"], // RFC 5737
  ["192.31.196.0", 24, "reserved"], // RFC 7535
  ["192.52.193.0", 24, "reserved"], // RFC 7450
  ["192.88.99.0", 24, "reserved"], // RFC 7526
  ["192.168.0.0", 16, "a private network"], // RFC 1918
  ["192.175.48.0", 24, "reserved"], // RFC 7534
  ["198.18.0.0", 15, "reserved for measurements"], // RFC 2544
  ["198.51.100.0", 24, "reserved for documentation"], // RFC 5737
  ["203.0.113.0", 24, "reserved for documentation"], // RFC 5737
  ["224.0.0.0", 4, "multicast"], // RFC 1112
  ["240.0.0.0", 4, "reserved"], // RFC 1112, RFC 919
];

/** All of IPv6 that is given out to hosts (RFC 4291); everything outside is closed. */
const GLOBAL_IPV6 = ["2000::", 3] as const;

/** Within that, ranges that are none of a host, or lead to an IPv4 address that would have to be looked at. */
const CLOSED_IPV6: typeof CLOSED = [
  ["2001::", 23, "reserved, or a tunnel to an IPv4 address"], // RFC 2928; Teredo is RFC 4380
  ["2001:db8::", 32, "reserved for documentation"], // RFC 3849
  ["2002::", 16, "a tunnel to an IPv4 address"], // 6to4, RFC 3056
  ["2620:4f:8000::", 48, "reserved"], // RFC 7534
  ["3fff::", 20, "reserved for documentation"], // RFC 9637
];

/** Outside of what is given out, but worth a word of their own. */
const NAMED_IPV6: typeof CLOSED = [
  ["::1", 128, "this host"], // RFC 4291
  ["::", 128, "this host"], // RFC 4291
  ["::ffff:0:0", 96, "an IPv4 address in another dress"], // RFC 4291
  ["64:ff9b::", 96, "a translation to an IPv4 address"], // NAT64, RFC 6052
  ["64:ff9b:1::", 48, "a translation to an IPv4 address"], // RFC 8215
  ["fc00::", 7, "a private network"], // RFC 4193
  ["fe80::", 10, "the local link"], // RFC 4291
  ["fec0::", 10, "a private network"], // RFC 3879
  ["ff00::", 8, "multicast"], // RFC 4291
];

const IPV4 = CLOSED.map(([network, bits, what]) => ({ what, list: listOf(network, bits, "ipv4") }));
const IPV6 = [...NAMED_IPV6, ...CLOSED_IPV6].map(([network, bits, what]) => ({
  what,
  list: listOf(network, bits, "ipv6"),
}));
const OPEN_IPV6 = listOf(...GLOBAL_IPV6, "ipv6");

function listOf(network: string, bits: number, family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list;
}

/**
 * Why no connection may be made to an address, to complete "the address is …"; undefined for one of the open internet.
 *
 * @param address as a resolver gives it; anything else is closed.
 */
export function whyClosed(address: string): string | undefined {
  const family = isIP(address);
  if (family === 4) return IPV4.find(({ list }) => list.check(address, "ipv4"))?.what;
  // A zone (`%eth0`) only belongs to addresses of the local link.
  if (family !== 6 || address.includes("%")) return "no address of the internet";
  const named = IPV6.find(({ list }) => list.check(address, "ipv6"))?.what;
  if (named !== undefined) return named;
  return OPEN_IPV6.check(address, "ipv6") ? undefined : "reserved";
}
