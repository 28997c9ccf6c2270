import type { AskedCase } from '../../../explain/explain.ts';
import type { NotPermitted, ProbeKind, ProofNeeds } from '../../../explain/proof/proof.ts';
import type { Prediction } from '../../../forwarding/answer/prediction.ts';
import { effectiveCapabilities } from '../../../linux/capabilities.ts';
import { namespaceOfAddress } from '../../../linux/namespace-of-address.ts';
import type { ModeProof } from '../../../modes/proof/mode-proof.ts';
import type { Basis } from '../../basis/basis.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../../command-error.ts';
import { ownNetworkNamespace } from '../../run/describe-agent-node.ts';

/** `--probe`; undefined: the gentlest that answers. */
export type WantedProbe = ProbeKind | 'none' | undefined;

/** A probe that can be sent. */
export interface PlannedProbe {
  readonly kind: ProbeKind;
  /** Undefined: from the network namespace of this process. */
  readonly namespacePath: string | undefined;
  /** The client's address there; undefined: the one that the routes give. */
  readonly source: string | undefined;
  readonly protocol: 'TCP' | 'UDP';
  /** Bytes that are sent when the connection is open. */
  readonly size?: number | undefined;
  readonly mode: ModeProof;
  /** A hook translates the client's sockets when they connect. */
  readonly isAtSocket: boolean;
}

/** The probe that is sent, or why none is, in words. Throws CommandError. */
export async function planProbe(
  wanted: Exclude<WantedProbe, 'none'>,
  planned: {
    readonly basis: Basis;
    readonly asked: AskedCase;
    readonly prediction: Prediction;
    readonly mode: ModeProof | undefined;
    /** `--from netns:PATH` or `pid:N`. */
    readonly namespacePath: string | undefined;
    /** `--size`. */
    readonly size?: number | undefined;
  },
): Promise<PlannedProbe | NotPermitted | string> {
  const { asked, mode } = planned;
  const { protocol } = asked.to;
  if (protocol === 'SCTP') return 'there is no probe for SCTP';
  if (wanted === 'syn' && protocol === 'UDP') throw noSyn();
  const hindrance = hindranceOf(wanted, planned);
  if (hindrance !== undefined) return hindrance;
  if (mode === undefined) return `no packet can prove it in mode ${asked.mode} yet`;
  const { size } = planned;
  if (size !== undefined) assertSizeFits(wanted, protocol);
  if (size !== undefined && mode.connectedTo !== undefined) {
    return 'a process of this node takes the bytes: ask for the address of an endpoint';
  }
  const facts = planned.basis.by === 'agent' ? planned.basis.agent.facts : undefined;
  const isAtSocket =
    facts !== undefined && mode.front?.meetsSockets(asked.source.class, facts) === true;
  const usual = isAtSocket ? 'connect' : mode.usualTcpProbe;
  const gentlest = protocol === 'TCP' ? usual : 'dry';
  const kind = size === undefined ? (wanted ?? gentlest) : 'connect';
  const common = { kind, protocol, mode, isAtSocket, size };
  const impossible = isAtSocket ? socketHindrance(kind, planned) : undefined;
  if (impossible !== undefined) return impossible;
  const isRaw = !isAtSocket && protocol === 'TCP' && kind !== 'connect';
  const needs = proofNeeds({ isRaw, isFromHost: asked.source.class === 'host' });
  if (isRaw && !effectiveCapabilities().has('NET_RAW')) return { why: NO_RAW, needs };
  if (asked.source.class === 'host' || planned.namespacePath !== undefined) {
    const source = planned.namespacePath === undefined ? undefined : asked.source.address;
    return { ...common, namespacePath: planned.namespacePath, source };
  }
  const { address } = asked.source;
  if (address === undefined) {
    return 'no client was named to send a packet from: --from pod:NAMESPACE/NAME or host';
  }
  const namespacePath = await namespaceOfAddress(address);
  if (namespacePath === undefined) {
    const isAllowed = effectiveCapabilities().has('SYS_ADMIN');
    const lack = isAllowed
      ? ''
      : ' (this process lacks CAP_SYS_ADMIN to enter others, as in a pod of the DaemonSet: run it on the node itself as root)';
    const why = `no network namespace that can be entered here has ${address}, so no packet can be sent from it${lack}: --watch 60s waits for its next one`;
    return { why, needs };
  }
  return { ...common, namespacePath, source: address };
}

/** A single SYN is sent by a raw socket. */
const NO_RAW = 'this process lacks CAP_NET_RAW to send a single SYN; --probe connect does without';

/** The least that proves it, with the reasons of drops. */
function proofNeeds(probe: { readonly isRaw: boolean; readonly isFromHost: boolean }): ProofNeeds {
  const raw = probe.isRaw ? ['NET_RAW'] : [];
  // SYS_ADMIN enters the namespaces of clients, and includes BPF and PERFMON.
  return probe.isFromHost
    ? { capabilities: ['BPF', 'NET_ADMIN', ...raw, 'PERFMON'], clientNamespaces: false }
    : { capabilities: ['NET_ADMIN', ...raw, 'SYS_ADMIN'], clientNamespaces: true };
}

/** What a socket hook cannot be asked. */
function socketHindrance(
  kind: ProbeKind,
  { asked, prediction }: { readonly asked: AskedCase; readonly prediction: Prediction },
): string | undefined {
  if (kind === 'syn') return 'a single SYN meets no socket hook: use --probe connect or dry';
  const endpoints = prediction.code === 'WOULD_REACH' ? prediction.endpoints : [];
  const isOwn = endpoints.some(({ address }) => address === asked.source.address);
  if (kind !== 'dry' || !isOwn || asked.source.class === 'host') return undefined;
  return 'the client is an endpoint itself, and a packet to it would be delivered: use --probe connect';
}

function hindranceOf(
  wanted: WantedProbe,
  {
    basis,
    asked,
    prediction,
  }: { readonly basis: Basis; readonly asked: AskedCase; readonly prediction: Prediction },
): string | undefined {
  const withoutAgent = agentHindrance(basis);
  if (withoutAgent !== undefined) return withoutAgent;
  if (asked.to.address === '') return 'a packet needs an address: ask for ADDRESS:PORT';
  if (prediction.code !== 'WOULD_REACH') return undefined;
  if (prediction.relayed) return 'the agent itself accepts connections there';
  if (wanted === undefined && prediction.affinitySeconds > 0) {
    return 'a packet would write an affinity entry: --probe syn or dry sends it all the same';
  }
  return undefined;
}

/** Why a packet could not show what the agent's rules do. */
export function agentHindrance(basis: Basis): string | undefined {
  if (basis.by !== 'agent') return 'these are not the rows of a running agent';
  return basis.agent.networkNamespace === ownNetworkNamespace()
    ? undefined
    : 'the agent serves another network namespace than the one of this process';
}

function assertSizeFits(wanted: WantedProbe, protocol: 'TCP' | 'UDP'): void {
  if (protocol === 'TCP' && (wanted === undefined || wanted === 'connect')) return;
  throw new CommandError('--size needs a whole TCP connection', {
    code: 'USAGE',
    next: 'leave --probe out, and ask for a TCP port',
    exitCode: WRONG_USAGE_EXIT,
  });
}

function noSyn(): CommandError {
  return new CommandError('--probe syn is for TCP, and the target is UDP', {
    code: 'USAGE',
    next: 'use --probe dry, or --probe connect to send an empty datagram to an endpoint',
    exitCode: WRONG_USAGE_EXIT,
  });
}
