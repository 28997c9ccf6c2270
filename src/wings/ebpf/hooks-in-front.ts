import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { Forwarding, Frontend, SourceClass } from '../../forwarding/model.ts';
import type { Mode } from '../../modes/mode.ts';
import { NFTABLES_FAILURES, NFTABLES_PART, rawTable } from '../../modes/nftables.ts';
import { openTwoParts } from '../../modes/open-parts.ts';
import type { Part } from '../../modes/part.ts';
import { trackedAndSocketFlows } from './flows.ts';
import { hookPages, rawEntries } from './hook-pages.ts';
import { hooksProof, meetsSockets } from './hooks-proof.ts';
import { mountForPrograms } from './mounts.ts';
import { type RenderedPlace, renderedEntries } from './plane/render.ts';

/** The differences between the two modes with hooks in front of nftables. */
export interface HooksInFront {
  readonly name: Mode['name'];
  readonly part: Part;
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

export function hooksInFront(of: HooksInFront): Mode {
  const { name, part, hooks, placeOf, socketsOf, unseenSources, packetHook } = of;
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
    open: (around) => openTwoParts({ mode: name, front: part, behind: NFTABLES_PART }, around),
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
    unseenConnections:
      `Sockets of ${socketsOf} that connected since the hooks were attached have their endpoint as ` +
      'peer and no translated conntrack entry; `ss -tun` in their network namespace shows them.',
    // A change is written to both parts or to neither.
    failureMetrics: NFTABLES_FAILURES,
    readsAttachmentsCheaply: true,
  };
}
