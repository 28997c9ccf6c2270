import type { Desired } from '../../../dataplanes/contract.ts';
import { observe } from '../../../explain/proof/observe.ts';
import type { ProvenPacket } from '../../../explain/proof/proof.ts';
import type { Destination } from '../../../forwarding/answer/destination.ts';
import { familyOf } from '../../../forwarding/answer/source.ts';
import { listAllChains } from '../../../linux/nftables/filter-tables.ts';
import type { ProbeAnswer } from '../../../linux/probe/probe-answer.ts';
import type { TraceEvent } from '../../../linux/trace/decode-trace.ts';
import { LAST_CHAINS, PROBE_TABLE_NAME } from '../../../linux/trace/probe-table.ts';
import { openNetfilter } from '../../../modes/netfilter.ts';
import type { ModeProof } from '../../../modes/proof/mode-proof.ts';

export const BLIND =
  'the rules of this mode are not in nf_tables, so they do not tell what they did';

type Path = Pick<ProvenPacket, 'outcome' | 'steps'>;

/** What became of a traced packet, with the rules that it met in the words of the mode. */
export async function readPath(
  { events, answer }: { readonly events: readonly TraceEvent[]; readonly answer: ProbeAnswer },
  of: { readonly to: Destination; readonly desired: Desired; readonly mode: ModeProof },
): Promise<Path> {
  const { to, desired, mode } = of;
  const met = events.filter(({ handle }) => handle !== undefined);
  const family = familyOf(events.find(({ packet }) => packet)?.packet?.source ?? to.address);
  const wordsOf = await mode.account({ desired, family, met });
  return observe({
    events,
    answer,
    asked: to,
    probe: { table: PROBE_TABLE_NAME, lastChains: Object.values(LAST_CHAINS) },
    hookOf: await hooks(),
    isOurs: (rule) => mode.isOurs(rule),
    wordsOf,
    processAddresses: mode.processAddresses ?? [],
  });
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
