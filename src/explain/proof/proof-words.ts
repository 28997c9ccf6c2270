import { endpointKey } from '../../forwarding/endpoints.ts';
import type { SeenDrop } from '../dropped-packet.ts';
import type { MetRule, PacketKind, Proof } from './proof.ts';

/** `handle 12 of chain guard, table inet planted`. */
export function ruleName({ table, chain, handle }: MetRule): string {
  const what = handle === undefined ? 'the policy' : `handle ${handle}`;
  return `${what} of chain ${chain}, table ${table}`;
}

const SENT: Readonly<Record<PacketKind, string>> = {
  dry: 'one packet that the probe itself drops after all rules',
  syn: 'one SYN',
  connect: 'one connection or datagram without a byte',
  watched: 'the next packet of a client',
};

/** What was sent, what became of it, and what came back. */
export function proofText(proof: Proof): string {
  const { kind, outcome, isComplete, leftBehind } = proof;
  const verb = kind === 'dry' ? 'it was on its way' : 'it went';
  const goal = outcome.is === 'forwarded' ? `: ${verb} to ${outcome.endpoint}` : '';
  const part = isComplete ? '' : '; the kernel had no room for some of its events';
  const left = leftBehind.length === 0 ? '' : `; left behind: ${leftBehind.join(', ')}`;
  const verdict = proof.agrees ? 'as predicted' : 'NOT as predicted';
  return `${verdict}, by ${proof.source === '' ? 'a socket that has no route' : SENT[kind]}${goal}${part}${left}`;
}

/** What the client saw; undefined: nothing was to come back. */
export function answerText({ kind, answer, outcome }: Proof): string | undefined {
  // Of another's packet it is not known when it was sent.
  const after = (ms: number): string => (kind === 'watched' ? '' : ` within ${milliseconds(ms)}`);
  switch (answer.is) {
    case 'accepted':
      return `accepted${after(answer.afterMs)}`;
    case 'answered':
      return `a datagram${after(answer.afterMs)}`;
    case 'refused':
      return `refused${after(answer.afterMs)}`;
    case 'unreachable':
      return `${answer.code}${after(answer.afterMs)}`;
    case 'silent':
      return kind === 'dry' && outcome.is !== 'dropped' ? undefined : 'none';
  }
}

/** `IP_RPFILTER in ip_rcv_finish_core, at eth1: 203.0.113.9:40001 > 10.1.0.2:8080`. */
export function dropText({ reason, function: by, device, isHere, packet }: SeenDrop): string {
  const why = reason ?? 'this kernel gives no reason';
  const where = [
    by === undefined ? '' : ` in ${by}`,
    device === '' ? '' : `, at ${device}`,
    isHere ? '' : ' of another network namespace',
  ].join('');
  const { source, sourcePort, destination, destinationPort } = packet;
  const from = endpointKey({ address: source, port: sourcePort });
  const to = endpointKey({ address: destination, port: destinationPort });
  return `${why}${where}: ${from} > ${to}`;
}

/** It includes the time until this process reads the answer. */
function milliseconds(ms: number): string {
  return `${Math.ceil(ms)} ms`;
}
