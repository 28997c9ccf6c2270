import type { Desired } from '../../../dataplanes/contract.ts';
import { observe } from '../../../explain/proof/observe-trace.ts';
import type { ProvenPacket } from '../../../explain/proof/proof.ts';
import { familyOf } from '../../../forwarding/answer/connection-source.ts';
import type { Destination } from '../../../forwarding/answer/destination.ts';
import {
  listAllChains,
  readFilterTables,
  ruleText,
} from '../../../linux/nftables/filter-tables.ts';
import type { ProbeAnswer } from '../../../linux/probe/answer-kinds.ts';
import type { TraceEvent } from '../../../linux/trace/decode-trace.ts';
import { LAST_CHAINS, PROBE_TABLE_NAME } from '../../../linux/trace/probe-table.ts';
import { openNetfilter } from '../../../modes/netfilter.ts';
import type { ModeProof } from '../../../modes/proof/mode-proof.ts';
import { type FrontContext, packetSteps, sentByProgram } from './front.ts';

export const BLIND =
  'the rules are those of iptables-legacy, which no trace tells of: only an endpoint that answers proves the way, and not what rejects or drops a packet';

export type Path = Pick<ProvenPacket, 'outcome' | 'steps'>;

/** What became of a traced packet, with the rules that it met in the words of the mode. */
export async function readPath(
  { events, answer }: { readonly events: readonly TraceEvent[]; readonly answer: ProbeAnswer },
  read: {
    readonly to: Destination;
    readonly desired: Desired;
    readonly mode: ModeProof;
    /** Programs that meet the packet before the rules. */
    readonly front?: FrontContext;
  },
): Promise<Path> {
  const { to, desired, mode, front } = read;
  const met = events.filter(({ handle }) => handle !== undefined);
  const family = familyOf(events.find(({ packet }) => packet)?.packet?.source ?? to.address);
  const wordsOf = await mode.account({ desired, family, met });
  const seen = observe({
    events,
    answer,
    asked: to,
    probe: { table: PROBE_TABLE_NAME, lastChains: Object.values(LAST_CHAINS) },
    hookOf: await hooks(),
    isOurs: (rule) => mode.isOurs(rule),
    wordsOf,
    processAddresses: mode.processAddresses ?? [],
  });
  const path = { ...seen, ...(await withForeignRule(seen)) };
  return front === undefined ? path : withPrograms({ ...path, to, events }, front);
}

/** A trace calls a reject a drop and has no text: both are read of the rule itself. */
async function withForeignRule(path: Path): Promise<Path> {
  const { outcome, steps } = path;
  const step = steps.at(-1);
  if (!('by' in outcome) || outcome.by.ours || step?.handle === undefined) return path;
  const [family, ...names] = step.table.split(' ');
  using netlink = openNetfilter('requests');
  const [table] = await readFilterTables(
    netlink,
    (each) => each.family === family && each.table === names.join(' '),
  );
  const rule = table?.rules.find(
    ({ chain, id }) => chain === step.chain && id === `handle ${step.handle}`,
  );
  if (table === undefined || rule === undefined) return path;
  const does = await ruleText(table, rule);
  return {
    outcome: rule.verdict === 'reject' ? { ...outcome, is: 'rejected' } : outcome,
    steps: does === undefined ? steps : steps.with(-1, { ...step, does }),
  };
}

function withPrograms(
  seen: ReturnType<typeof observe> & {
    readonly to: Destination;
    readonly events: readonly TraceEvent[];
  },
  front: FrontContext,
): Path {
  const { to, outcome, events, last } = seen;
  const sent = sentByProgram(front.front, { to, events, last, steps: seen.steps });
  if (sent === 'not seen') return { outcome, steps: seen.steps };
  const steps = [...packetSteps(front, sent), ...seen.steps];
  const isByProgram = outcome.is === 'forwarded' && sent !== undefined;
  return { outcome: isByProgram ? { ...outcome, byProgram: 'packet' } : outcome, steps };
}

/** Whether it was lost in rules that no trace tells of. */
export function isBlind({ outcome, steps }: Path, mode: ModeProof): boolean {
  return outcome.is === 'lost' && mode.mayBeBlind === true && !steps.some(({ ours }) => ours);
}

/** The hooks of all base chains. */
async function hooks(): Promise<Parameters<typeof observe>[0]['hookOf']> {
  using netlink = openNetfilter('requests');
  const chains = await listAllChains(netlink);
  const byName = new Map(
    chains.map(({ family, table, name, base }) => [`${family} ${table} ${name}`, base?.hook]),
  );
  return ({ family, table, chain }) => byName.get(`${family} ${table} ${chain}`);
}
