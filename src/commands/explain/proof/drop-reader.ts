import { statSync } from 'node:fs';
import { dropCause } from '../../../explain/drop-cause.ts';
import type { DropFacts, DroppedPacket, SeenDrop } from '../../../explain/dropped-packet.ts';
import { type ConntrackLosses, conntrackLosses } from '../../../linux/conntrack/table-use.ts';
import type { Drop, DropWatch, End } from '../../../linux/drops/drop.ts';
import { isOfConnection, type KnownConnection } from '../../../linux/drops/same-connection.ts';
import { namespaceOfAddress } from '../../../linux/namespace-of-address.ts';
import { linksWithoutCarrier } from '../../../linux/route/link-carrier.ts';
import { listLinks } from '../../../linux/route/watch-links.ts';
import { kernelSysctls, type Sysctls } from '../../../linux/sysctl.ts';
import { SysctlError } from '../../../linux/sysctl-error.ts';
import { sleep } from '../../../time/sleep.ts';
import { dropWatch } from '../../../wings/wing-registry.ts';

const PAUSE_MS = 10;
const MOST_KEPT = 1024;

/** The packets that the kernel drops, of connections with one of the given ends. */
export interface DropReader {
  /** Those that were read so far, oldest first; the oldest of very many are forgotten. */
  read(): readonly Drop[];
  /** The drop that tells what became of the connection; undefined: none so far. */
  decisive(connection: KnownConnection): SeenDrop | undefined;
  /** The drop that tells what became of the connection; undefined: none before the timeout. */
  find(
    connection: KnownConnection,
    wait: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<SeenDrop | undefined>;
}

/** Reads drops until the signal is aborted, or says in words why it cannot. */
export async function openDropReader(
  ends: readonly End[],
  signal: AbortSignal,
): Promise<DropReader | string> {
  const watch = await dropWatch(ends, signal);
  return typeof watch === 'string' ? watch : readerOf(watch);
}

function readerOf(watch: DropWatch): DropReader {
  const machine = { sysctls: kernelSysctls(), lossesBefore: conntrackLosses() };
  const seen = (drop: Drop, connection: KnownConnection): SeenDrop | undefined => {
    if (!isOfConnection(drop, connection)) return undefined;
    const isHere = drop.networkNamespace === ownNamespaceNumber();
    const facts = readDropFacts(drop, machine);
    const cause = dropCause(drop, { facts, isElsewhere: !isHere });
    // A reset, or the answer to a probe whose socket does not wait for it.
    const isAtClient = cause?.code === 'ENDPOINT_REFUSES' && isTowardsClient(drop, connection);
    if (cause === undefined || isAtClient) return undefined;
    return { ...drop, cause, isHere };
  };
  const kept: Drop[] = [];
  const read = (): readonly Drop[] => {
    kept.push(...watch.read());
    kept.splice(0, Math.max(0, kept.length - MOST_KEPT));
    return kept;
  };
  const allSeen = (connection: KnownConnection) =>
    read().flatMap((drop) => seen(drop, connection) ?? []);
  const decisive = (connection: KnownConnection) => allSeen(connection)[0];
  const far = new Set<SeenDrop['networkNamespace']>();
  const nearest = async (connection: KnownConnection): Promise<SeenDrop | undefined> => {
    for (const drop of allSeen(connection)) {
      if (far.has(drop.networkNamespace)) continue;
      if (drop.isHere) return await withLinkState(drop);
      if (await isAtAnEnd(drop)) return drop;
      far.add(drop.networkNamespace);
    }
    return undefined;
  };
  const find: DropReader['find'] = async (connection, { timeoutMs, signal }) => {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const found = await nearest(connection);
      const isOver = performance.now() >= deadlineMs || signal.aborted;
      if (found !== undefined || isOver) return found;
      await sleep(PAUSE_MS, signal);
    }
  };
  return { read, decisive, find };
}

/** An interface without a carrier drops what is sent to it, and the kernel's reason does not say so. */
async function withLinkState(drop: SeenDrop): Promise<SeenDrop> {
  const link = (await listLinks()).find(({ name }) => name === drop.device);
  const isDead = link !== undefined && (await linksWithoutCarrier()).has(link.index);
  if (drop.cause.code !== 'DROPPED_BY_KERNEL' || !isDead) return drop;
  return { ...drop, cause: dropCause(drop, { facts: { linkIsDown: true } }) ?? drop.cause };
}

/**
 * In the network namespace of a client or an endpoint that is linked with this node. What is beyond
 * belongs to another node, which a node sees only where they share a kernel, as in a lab.
 */
async function isAtAnEnd({ networkNamespace, packet }: DroppedPacket): Promise<boolean> {
  for (const address of [packet.source, packet.destination]) {
    const path = await namespaceOfAddress(address);
    if (path !== undefined && statSync(path).ino === networkNamespace) return true;
  }
  return false;
}

function isTowardsClient({ packet }: Drop, { first }: KnownConnection): boolean {
  return packet.destination === first.source && packet.destinationPort === first.sourcePort;
}

const OWN_NAMESPACE = '/proc/thread-self/ns/net';
const IPV6_SEPARATOR = ':';

/** The inode number of the network namespace that this thread is in. */
function ownNamespaceNumber(): number {
  return statSync(OWN_NAMESPACE).ino;
}

/**
 * The settings that a drop may be due to; none where it happened in another network namespace, whose
 * settings this process does not see.
 */
export function readDropFacts(
  { networkNamespace, packet, device }: DroppedPacket,
  machine: { readonly sysctls: Sysctls; readonly lossesBefore: ConntrackLosses | undefined },
): DropFacts {
  if (networkNamespace !== ownNamespaceNumber()) return {};
  const number = (name: string): number | undefined => numberAt(machine.sysctls, name);
  const isIpv6 = packet.source.includes(IPV6_SEPARATOR);
  const forwarding = number(isIpv6 ? 'net/ipv6/conf/all/forwarding' : 'net/ipv4/ip_forward');
  const filters = ['all', device].map((name) => number(`net/ipv4/conf/${name}/rp_filter`) ?? 0);
  const count = number('net/netfilter/nf_conntrack_count');
  const max = number('net/netfilter/nf_conntrack_max');
  const [before, now] = [machine.lossesBefore, conntrackLosses()];
  return {
    ...(forwarding === undefined ? {} : { isForwarding: forwarding !== 0 }),
    ...(isIpv6 ? {} : { rpFilter: Math.max(...filters) }),
    ...(count === undefined || max === undefined || before === undefined || now === undefined
      ? {}
      : { conntrack: { count, max, dropped: now.drop - before.drop } }),
  };
}

/** Undefined: this kernel has no such setting, or the interface has gone. */
function numberAt(sysctls: Sysctls, name: string): number | undefined {
  try {
    return Number(sysctls.read(name));
  } catch (error) {
    if (error instanceof SysctlError) return undefined;
    throw error;
  }
}
