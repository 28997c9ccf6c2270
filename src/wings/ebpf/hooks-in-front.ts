import { DEFAULT_EBPF } from '../../config/settings.ts';
import type { Desired, NodeFacts } from '../../dataplanes/contract.ts';
import { TRANSLATING_CHAINS } from '../../dataplanes/nftables/nftables-chains.ts';
import { TABLE_NAME } from '../../dataplanes/nftables/nftables-sets.ts';
import { JoinedFlows } from '../../flows/joined.ts';
import type { Forwarding, Frontend, SourceClass } from '../../forwarding/model.ts';
import { type Conntrack, KernelConntrack } from '../../linux/conntrack/conntrack.ts';
import { readPrograms, SOCKET_PROGRAMS } from '../../linux/ebpf/shipped-programs.ts';
import { networkNamespaces } from '../../linux/network-namespaces.ts';
import type { Mode } from '../../modes/mode.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from '../../modes/nftables.ts';
import { openTwoParts } from '../../modes/open-parts.ts';
import { nftablesPages } from '../../modes/pages/nftables-pages.ts';
import type { Page } from '../../modes/pages/rendered-page.ts';
import type { Surroundings } from '../../modes/part.ts';
import type { FrontCase, FrontEntry, ModeProof } from '../../modes/proof/mode-proof.ts';
import { nftablesProof } from '../../modes/proof/nftables-proof.ts';
import { type HooksPart, mountForPrograms } from './hooks-part.ts';
import { connectedPeer } from './plane/connected-peer.ts';
import { type RenderedEntry, type RenderedPlace, renderedEntries } from './plane/render-entries.ts';
import { SocketFlows } from './plane/socket-flows.ts';

/** The differences between the two modes with hooks in front of nftables. */
export interface HooksInFront {
  readonly name: Mode['name'];
  readonly part: HooksPart;
  /** As `render` calls them in the path of a packet. */
  readonly hooks: string;
  readonly placeOf: (facts: NodeFacts) => RenderedPlace;
  /** Whose connections are translated without conntrack: in words, and as source classes. */
  readonly socketsOf: string;
  readonly unseenSources: readonly SourceClass[];
  /** Where packets meet a program; undefined: only sockets do. */
  readonly packetHook?: string;
}

/** Whether a hook connects sockets of this source to an endpoint. */
function isBySocket(
  place: RenderedPlace,
  { row, frontend }: { readonly row: Forwarding; readonly frontend: Frontend },
  source: SourceClass,
): boolean {
  if (!meetsSockets(source, place)) return false;
  const entry = renderedEntries(row, frontend, place).find((each) => each.source === source);
  return entry?.isPassed === false;
}

export function hooksInFront(mode: HooksInFront): Mode {
  const { name, part, hooks, placeOf, socketsOf, unseenSources, packetHook } = mode;
  return {
    name,
    // docs/ebpf.md says what each capability is for.
    service: {
      capabilities: ['BPF', 'NET_ADMIN', 'PERFMON', 'SYS_ADMIN'],
      kernel: ['nf_tables', 'nf_conntrack', 'bpf', 'cgroup2'],
      systemCalls: ['bpf'],
      entersNetworkNamespaces: true,
    },
    parts: [part, NFTABLES_PART],
    prepare: mountForPrograms,
    open: (around) => {
      const programs = part.open(around);
      const front = { ...part, open: () => programs };
      return {
        plane: openTwoParts({ mode: name, front, behind: NFTABLES_PART }, around),
        connectionTotals: () => programs.totals(),
      };
    },
    flows: trackedAndSocketFlows,
    pages: (desired, isWanted) =>
      hookPages({ hooks, place: placeOf(desired.facts) }, desired, isWanted),
    raw: (desired, family) => {
      const rows = desired.rows.filter(({ id }) => id.family === family);
      return rawEntries(placeOf(desired.facts), rows) + rawTable(desired, family);
    },
    proof: hooksProof({ placeOf, packetHook }),
    madeBy: (facts) => (to, source) =>
      isBySocket(placeOf(facts), to, source) ? 'socket' : undefined,
    unseenSources,
    ...(packetHook === undefined ? {} : { makesSilentEntries: true }),
    unseenConnections:
      `Sockets of ${socketsOf} that connected since the hooks were attached have their endpoint as ` +
      'peer and no translated conntrack entry; `ss -tun` in their network namespace shows them.',
    // A change is written to both parts or to neither.
    failureMetrics: NFTABLES_FAILURES,
    readsAttachmentsCheaply: true,
  };
}

/** Flows in conntrack, and sockets that were connected to an endpoint directly. */
function trackedAndSocketFlows(
  { ebpf = DEFAULT_EBPF }: Surroundings,
  onProblem: (error: unknown) => void,
): Conntrack {
  const sockets = new SocketFlows({
    readObject: () => readPrograms(SOCKET_PROGRAMS),
    pinFolder: ebpf.pinFolder,
    namespaces: networkNamespaces,
    onProblem,
  });
  return new JoinedFlows([new KernelConntrack(), sockets]);
}

interface HooksToShow {
  /** As they are called in the path of a packet. */
  readonly hooks: string;
  readonly place: RenderedPlace;
}

/** The rules behind, with the entries of the hooks in front. */
function hookPages(
  { hooks, place }: HooksToShow,
  desired: Desired,
  isWanted: (row: Forwarding) => boolean,
): Page[] {
  return nftablesPages(desired, isWanted).map((page) => ({
    ...page,
    table: `${page.table}, ${page.forwarding.onlyPackets ? 'without' : 'behind'} ${hooks}`,
    frontends: page.frontends.map(({ frontend, elements = [], path }) => ({
      frontend,
      elements: [
        ...renderedEntries(page.forwarding, frontend, place).map(({ map, text, does }) => ({
          kind: 'ebpf' as const,
          set: map,
          text,
          ...(does === '' ? {} : { does }),
        })),
        ...elements,
      ],
      path: page.forwarding.onlyPackets ? path : [hooks, ...path],
    })),
  }));
}

/** Only the entries, one per line. */
function rawEntries(place: RenderedPlace, rows: readonly Forwarding[]): string {
  const lines = rows.flatMap((row) => {
    const entries = row.frontends.flatMap((frontend) => renderedEntries(row, frontend, place));
    const unique = new Map(entries.map((entry) => [`${entry.map} ${entry.text}`, entry]));
    return [...unique.values()].map(({ map, text, does }) => {
      return `ebpf ${map} { ${text} }${does === '' ? '' : `  # ${does}`}`;
    });
  });
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The rules behind the hooks are those of mode nftables. */
function hooksProof(parts: {
  readonly placeOf: (facts: NodeFacts) => RenderedPlace;
  /** Where packets meet a program; undefined: only sockets do. */
  readonly packetHook: string | undefined;
}): ModeProof {
  const { placeOf, packetHook } = parts;
  return {
    ...nftablesProof(({ facts }) => facts),
    front: {
      ...(packetHook === undefined ? {} : { packetHook }),
      meetsSockets: (source, facts) => meetsSockets(source, placeOf(facts)),
      connectedTo: connectedPeer,
      isUntranslated: ({ table, chain }) =>
        table === TABLE_NAME && TRANSLATING_CHAINS.includes(chain),
      account: (front) => entriesOf(front, placeOf(front.facts)),
    },
  };
}

/** Whether a hook meets the sockets of such a client when they connect. */
function meetsSockets(source: SourceClass, place: RenderedPlace): boolean {
  const { podsMet, onlyOwnSockets } = place;
  return source === 'host' || (source === 'pod' && podsMet === 'at sockets' && !onlyOwnSockets);
}

function entriesOf(
  { row, frontend, source, endpoint }: FrontCase,
  place: RenderedPlace,
): readonly FrontEntry[] {
  const all = renderedEntries(row, frontend, place);
  const entry = all.find((each) => each.source === source);
  if (endpoint === undefined) return entry === undefined ? [] : [notTranslated(entry)];
  const slot = all.find((each) => each.endpoint === endpoint);
  return [
    ...(entry === undefined ? [] : [entry]),
    slot === undefined
      ? { map: 'slots', text: endpoint, does: 'no desired slot of this Service has this endpoint' }
      : { ...slot, does: 'was chosen' },
  ];
}

/** A connection that the hook should have translated was left to the rules behind. */
function notTranslated(entry: RenderedEntry): FrontEntry {
  if (entry.isPassed) return entry;
  return { ...entry, does: `did not: the rules behind the hook got it (${entry.does})` };
}
