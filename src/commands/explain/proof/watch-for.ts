import type { AskedCase } from '../../../explain/explain.ts';
import type { Prediction } from '../../../forwarding/answer/prediction.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import type { Endpoint, Forwarding } from '../../../forwarding/model.ts';
import { modeNamed } from '../../../modes/mode-registry.ts';
import type { Basis } from '../../basis/basis.ts';
import { printNote } from '../../terminal/print.ts';
import { agentHindrance } from './probe-kind.ts';
import { type Watched, watchTarget } from './watch-target.ts';

/** Waits for the next packet of a client to what was asked for; in words why there is none. */
export async function watchFor(
  asked: AskedCase,
  target: {
    readonly basis: Basis;
    readonly prediction: Prediction;
    readonly rows: readonly Forwarding[];
    readonly timeoutMs: number;
  },
): Promise<Watched | string> {
  const { basis, prediction, rows, timeoutMs } = target;
  const { to, source, isNamed } = asked;
  const hindrance = agentHindrance(basis);
  if (hindrance !== undefined) return hindrance;
  if (basis.by !== 'agent') throw new TypeError('a packet needs an agent');
  if (to.address === '') return 'a packet needs an address: ask for ADDRESS:PORT';
  if (to.protocol === 'SCTP') return 'packets of SCTP cannot be watched';
  const { proof: mode } = await modeNamed(basis.config.settings.mode);
  if (mode === undefined) return `no packet can prove it in mode ${asked.mode} yet`;
  return await watchTarget({
    to,
    endpoints: 'row' in prediction ? allEndpoints(prediction.row) : [],
    source: isNamed ? source.address : undefined,
    desired: { facts: basis.agent.facts, rows },
    mode,
    timeoutMs,
    onReady: () => printNote(`waiting for a new connection to ${endpointKey(to)}`),
  });
}

/** Whatever class the client turns out to have. */
function allEndpoints({ clusterEndpoints, localEndpoints }: Forwarding): readonly Endpoint[] {
  return [...clusterEndpoints, ...localEndpoints];
}
