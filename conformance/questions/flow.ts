import type { ResolvedAsker, ResolvedTarget } from './resolve.ts';
import { StreamFlow } from './tcp.ts';
import { UdpFlow } from './udp.ts';

/** Something with two ends that can be asked who is at the other one. */
export type Flow = StreamFlow | UdpFlow;

export async function openFlow(
  from: ResolvedAsker,
  to: Pick<ResolvedTarget, 'address' | 'port' | 'protocol'>,
  sourcePort?: number,
): Promise<Flow> {
  const origin = { ...from.origin, sourcePort };
  if (to.protocol === 'UDP') return await UdpFlow.open(origin, to);
  if (to.protocol !== 'SCTP') return StreamFlow.overTcp(origin, to);
  const sourceAddress = origin.sourceAddress ?? from.ownAddresses[0];
  if (sourceAddress === undefined) throw new TypeError('the asker has no address of its own');
  return StreamFlow.overSctp({ ...origin, sourceAddress }, to);
}
