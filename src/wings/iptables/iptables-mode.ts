import type { Desired } from '../../dataplanes/contract.ts';
import { type Family, type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import { KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { NftConnection } from '../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../linux/nftables/nftables-protocol.ts';
import {
  BACKENDS,
  IPTABLES_TABLES,
  type IptablesTable,
  programName,
} from '../../linux/xtables/iptables-programs.ts';
import type { Mode } from '../../modes/mode.ts';
import { openNetfilter } from '../../modes/netfilter.ts';
import type { Page, PageChain } from '../../modes/pages/rendered-page.ts';
import type { Part, Surroundings } from '../../modes/part.ts';
import type { ModeProof, TracedRule } from '../../modes/proof/mode-proof.ts';
import { NETLINK_NEEDS } from '../../modes/service-needs.ts';
import { IptablesMetrics } from './iptables-metrics.ts';
import type { PacketCounter } from './packet-metrics.ts';
import { IptablesPlane } from './plane/iptables-plane.ts';
import { type ChainVisit, type FrontendWalk, walkRow, wayOf } from './plane/iptables-walk.ts';
import { readPacketCounts } from './plane/packet-counts.ts';
import { renderedTables, restoreText, USUAL_ABILITIES } from './plane/render-iptables.ts';
import { targetOf } from './plane/rule.ts';
import { ruleSentence } from './plane/sentences.ts';

const CHAIN_PREFIX = 'KUBE-';

const ENDS = new Set(['REJECT', 'DROP']);

/**
 * Rules have no fingerprints here: one is known by its target, by its place in a chain of which all
 * rules are known, or as the only one of its Service that rejects or drops.
 */
const IPTABLES_PROOF: ModeProof = {
  usualTcpProbe: 'syn',
  isOurs: ({ chain }) => chain.startsWith(CHAIN_PREFIX),
  // Tables of the legacy backend are not traced.
  mayBeBlind: true,
  account: async ({ desired, family, met }) => {
    const { facts, rows } = desired;
    const tables = renderedTables(rows, { facts, abilities: USUAL_ABILITIES }, family);
    const places = await placesOf(met);
    return ({ table, chain, handle, target, verdict }) => {
      const rules = isTable(table) ? (tables[table].get(chain) ?? []) : [];
      const toTarget = rules.filter((rule) => {
        const to = targetOf(rule) ?? '';
        return verdict === 'drop' ? ENDS.has(to) : target !== undefined && to === target;
      });
      const handles = places.get(`${table} ${chain}`) ?? [];
      const isSame = handles.length === rules.length && handle !== undefined;
      const [only] = toTarget.length === 1 ? toTarget : [];
      const rule = isSame ? rules[handles.indexOf(handle)] : only;
      return rule === undefined ? undefined : ruleSentence(rule);
    };
  },
};

/** The handles of each chain that was met, in order. */
async function placesOf(met: readonly TracedRule[]): Promise<ReadonlyMap<string, bigint[]>> {
  using connection = new NftConnection(openNetfilter('requests'));
  const places = new Map<string, bigint[]>();
  for (const { family, table, chain } of met) {
    const key = `${table} ${chain}`;
    if (!isTableFamily(family) || !chain.startsWith(CHAIN_PREFIX) || places.has(key)) continue;
    const rules = await connection.rules({ family, name: table }, chain);
    places.set(
      key,
      rules.map(({ handle }) => handle),
    );
  }
  return places;
}

function isTable(name: string): name is IptablesTable {
  return IPTABLES_TABLES.some((table) => table === name);
}

function isTableFamily(family: string): family is TableFamily {
  return family === 'ip' || family === 'ip6';
}

export const IPTABLES_PART: Part = {
  name: 'iptables',
  open: openIptables,
};

function openIptables(around: Surroundings): IptablesPlane {
  const { onWarning, serveLocalhost, openNetlink = openNetfilter } = around;
  return new IptablesPlane({
    openNetlink,
    ...(serveLocalhost ? { serveLocalhost } : {}),
    onOtherBackend: (backend) =>
      onWarning?.(`the tables of iptables-${backend} hold rules of kube-proxy or Fairlead too`),
  });
}

export const IPTABLES: Mode = {
  name: 'iptables',
  // The legacy backend uses a raw socket, and a lock file that all programs share.
  service: {
    ...NETLINK_NEEDS,
    capabilities: ['NET_ADMIN', 'NET_RAW'],
    // The legacy backend does without nf_tables.
    kernel: ['nf_conntrack'],
    sharedFile: '/run/xtables.lock',
    programs: BACKENDS.map(programName),
  },
  parts: [IPTABLES_PART],
  open: (around) => {
    const plane = openIptables(around);
    const readings = { ruleCounts: () => plane.ruleCounts(), packetCounters: readCounters };
    return { plane, series: (set) => new IptablesMetrics(set, readings) };
  },
  flows: () => new KernelConntrack(),
  pages: iptablesPages,
  raw: restoreInput,
  leavesAlone: {
    unknownPorts: true,
    ownPacketsToExternalIPs: true,
    limitsWithoutEndpoints: true,
  },
  proof: IPTABLES_PROOF,
  failureMetrics: {
    writes: 'iptables_restore_failures_total',
    partialWrites: 'iptables_partial_restore_failures_total',
  },
  usesKubeProxyChains: true,
  readsAttachmentsCheaply: false,
};

/** As kube-proxy counts in iptables mode. */
async function readCounters(): Promise<readonly PacketCounter[]> {
  const { invalidDropped, localhostAccepted } = await readPacketCounts(openNetfilter);
  return [
    {
      name: 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total',
      help: 'Packets dropped because conntrack considers them invalid',
      count: invalidDropped,
    },
    {
      name: 'kubeproxy_iptables_localhost_nodeports_accepted_packets_total',
      help: 'Packets accepted for node ports on loopback',
      count: localhostAccepted,
    },
  ];
}

function restoreInput({ facts, rows }: Desired, family: Family): string {
  const tables = renderedTables(rows, { facts, abilities: USUAL_ABILITIES }, family);
  const program = family === 'IPv4' ? 'iptables' : 'ip6tables';
  return `# for ${program}-restore --noflush\n${restoreText(tables)}`;
}

/** The chains of a Service in the order in which a packet meets them. */
function iptablesPages({ facts, rows }: Desired, isWanted: (row: Forwarding) => boolean): Page[] {
  const setting = { facts, abilities: USUAL_ABILITIES };
  return rows.filter(isWanted).map((row) => {
    const walks = walkRow(row, setting);
    return {
      key: servicePortKey(row.id),
      table: row.id.family === 'IPv4' ? 'iptables' : 'ip6tables',
      forwarding: row,
      frontends: walks.map(({ frontend, visits }) => ({ frontend, path: wayOf(visits) })),
      chains: chainsOf(walks),
    };
  });
}

/** Each chain once, with the rules that concern any of the frontends, hook by hook. */
function chainsOf(walks: readonly FrontendWalk[]): PageChain[] {
  const visits = new Map<string, ChainVisit>();
  for (const visit of walks.flatMap((walk) => walk.visits)) {
    const known = visits.get(nameOf(visit));
    const rules = [...new Set([...(known?.rules ?? []), ...visit.rules])];
    visits.set(nameOf(visit), { ...visit, rules: known ? inOrder(rules, visit.rules) : rules });
  }
  const all = [...visits.values()].sort((a, b) => a.stage - b.stage);
  return all.map((visit) => ({
    name: nameOf(visit),
    rules: visit.rules.map((rule) => ({
      text: `-A ${visit.name} ${rule}`,
      does: ruleSentence(rule),
    })),
  }));
}

/** Frontends have rules of their own in front of those that all share: the shared ones stay last. */
function inOrder(all: readonly string[], latest: readonly string[]): readonly string[] {
  const shared = all.filter((rule) => latest.includes(rule));
  return [...all.filter((rule) => !shared.includes(rule)), ...shared];
}

function nameOf({ table, name }: ChainVisit): string {
  return `${table} ${name}`;
}
