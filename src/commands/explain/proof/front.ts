import type { NodeFacts } from '../../../dataplanes/contract.ts';
import type { ProofStep } from '../../../explain/proof/proof.ts';
import type { Destination, Found } from '../../../forwarding/answer/destination.ts';
import { endpointKey } from '../../../forwarding/endpoints.ts';
import type { SourceClass } from '../../../forwarding/model.ts';
import type { TraceEvent } from '../../../linux/trace/decode-trace.ts';
import type { PacketHeader } from '../../../linux/trace/packet-header.ts';
import type { FrontProof } from '../../../modes/proof/mode-proof.ts';

/** The hook of a socket, as a step of the way. */
const SOCKET_HOOK = 'connect';
/** Where rules of another program may have translated it before ours. */
const TRANSLATING_HOOKS: readonly string[] = ['prerouting', 'output'];

/** What is known of a connection that programs in front of the rules may meet. */
export interface FrontContext {
  readonly front: FrontProof;
  readonly facts: NodeFacts;
  /** Undefined: no Service has the address. */
  readonly found: Found | undefined;
  readonly source: SourceClass;
}

/** What a socket hook did. `endpoint`: as it stored it; undefined: it stored nothing. */
export function socketSteps(
  context: FrontContext,
  endpoint: string | undefined,
): readonly ProofStep[] {
  return stepsOf(context, { hook: SOCKET_HOOK, endpoint });
}

/** What a program did with the packet itself; none where only sockets meet programs. */
export function packetSteps(
  context: FrontContext,
  endpoint: string | undefined,
): readonly ProofStep[] {
  const { packetHook } = context.front;
  return packetHook === undefined ? [] : stepsOf(context, { hook: packetHook, endpoint });
}

function stepsOf(
  { front, facts, found, source }: FrontContext,
  { hook, endpoint }: { readonly hook: string; readonly endpoint: string | undefined },
): readonly ProofStep[] {
  if (found === undefined) return [];
  const { row, frontend } = found;
  return front.account({ facts, row, frontend, source, endpoint }).map(({ map, text, does }) => ({
    hook,
    table: 'ebpf',
    chain: map,
    entry: text,
    ours: true,
    does,
    verdict: 'continue',
  }));
}

/**
 * Where a program sent the packet: it has another destination, and no rule gave it that. Undefined:
 * nowhere; `not seen`: it did not come so far that this shows.
 */
export function sentByProgram(
  front: FrontProof,
  packet: {
    readonly to: Destination;
    readonly last: PacketHeader | undefined;
    readonly steps: readonly ProofStep[];
    readonly events: readonly TraceEvent[];
  },
): string | 'not seen' | undefined {
  const { to, last, steps, events } = packet;
  if (events.some((event) => front.isUntranslated(event))) return undefined;
  const { destination = to.address, destinationPort = to.port } = last ?? {};
  const isSame = destination === to.address && destinationPort === to.port;
  const isForeign = steps.some(({ ours, hook }) => !ours && TRANSLATING_HOOKS.includes(hook));
  if (isSame || isForeign) return 'not seen';
  return endpointKey({ address: destination, port: destinationPort });
}
