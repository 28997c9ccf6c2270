import type { PredictedCode } from '../forwarding/answer/prediction.ts';
import type { DropCode } from './dropped-packet.ts';
import type { Proof } from './proof/proof.ts';

/** Exit codes of `fairlead explain`; 2 is a wrong command line. */
export const EXIT = {
  /** A packet was answered. */
  reaches: 0,
  noSuchThing: 1,
  doesNotReach: 3,
  /** A packet did something else than predicted. */
  differs: 4,
  /** It would reach an endpoint, and no packet was answered; or `--probe` was given, and none was sent. */
  notProven: 5,
} as const;

export type ExitName = keyof typeof EXIT;

/** Codes that do not follow from the rows alone. */
export type JoinedCode =
  /** The kernel rejected the row, or what leads packets to it is missing. */
  | 'NOT_IN_KERNEL'
  /** The row is still to be written. */
  | 'BEHIND'
  /** Nothing forwards on this machine: no agent, and nothing of one in the kernel. */
  | 'NOT_RUNNING'
  /** No agent runs on this machine; the kernel may have what the last one wrote. */
  | 'AGENT_GONE'
  /** The agent of this machine is stopped or stuck. */
  | 'AGENT_SILENT'
  /** For `--why-not`: the endpoint gets no connection. */
  | 'NOT_SELECTED';

/** Codes that only a packet shows. */
export type ProofCode =
  | 'REACHES'
  | 'NO_ANSWER'
  | 'SOME_ENDPOINTS_FAIL'
  | 'LARGE_PACKETS_LOST'
  | 'DROPPED_BY_RULE'
  | 'REFUSED_BY_RULE'
  | 'DROPPED_BY_KERNEL'
  | 'ENDPOINT_REFUSES'
  | 'ENDPOINT_SILENT'
  | 'NOT_AS_PREDICTED';

export type Code = PredictedCode | JoinedCode | ProofCode | DropCode;

interface CodeRow {
  readonly exit: ExitName;
  /** For the table in docs/explain.md. */
  readonly means: string;
}

/** Every code that an explanation can have. */
export const CODES: Readonly<Record<Code, CodeRow>> = {
  REACHES: { exit: 'reaches', means: 'a packet was forwarded to an endpoint, which answered' },
  WOULD_REACH: {
    exit: 'notProven',
    means: 'forwarded to an endpoint, as the rows say; no packet was answered',
  },
  NOT_TRANSLATED: {
    exit: 'notProven',
    means: "an endpoint's own address, which no rule translates; no packet was answered",
  },
  SOME_ENDPOINTS_FAIL: {
    exit: 'differs',
    means: 'packets to the endpoints, one by one: some were answered, and some were not',
  },
  NO_ANSWER: {
    exit: 'doesNotReach',
    means: 'a datagram left for an endpoint as predicted, and no answer came',
  },
  REFUSED_NO_ENDPOINTS: {
    exit: 'doesNotReach',
    means: 'rejected: the Service has no endpoint that could serve',
  },
  REFUSED_NOT_A_NODE: {
    exit: 'doesNotReach',
    means: 'rejected: the traffic policy is Local, and this machine has no Node object',
  },
  DROPPED_NO_LOCAL_ENDPOINTS: {
    exit: 'doesNotReach',
    means: 'dropped: the traffic policy is Local, and no endpoint is on this node',
  },
  DROPPED_SOURCE_RANGE: {
    exit: 'doesNotReach',
    means: 'dropped: the client is in none of loadBalancerSourceRanges',
  },
  NOT_SERVED: {
    exit: 'doesNotReach',
    means: 'not translated: this node does not serve the address of the Service',
  },
  NOT_A_CLIENT: {
    exit: 'doesNotReach',
    means: "not translated: only this machine's own connections are served",
  },
  NODE_PORT_NOT_HERE: {
    exit: 'doesNotReach',
    means: 'not translated: node ports are not served at this address of the node',
  },
  NOT_SELECTED: { exit: 'doesNotReach', means: 'with --why-not: the endpoint gets no connection' },
  NOT_IN_KERNEL: {
    exit: 'doesNotReach',
    means: 'the kernel rejected the row, or what leads packets to it is not attached',
  },
  NOT_RUNNING: {
    exit: 'doesNotReach',
    means: 'no agent runs on this machine, and its kernel has no rules of Fairlead',
  },
  AGENT_GONE: {
    exit: 'notProven',
    means: 'no agent runs on this machine; the kernel may have the rules of an earlier one',
  },
  AGENT_SILENT: {
    exit: 'notProven',
    means: 'the agent of this machine does not answer; the kernel may have its rules',
  },
  DROPPED_BY_RULE: {
    exit: 'differs',
    means: "a packet was dropped by a rule that is not Fairlead's",
  },
  REFUSED_BY_RULE: {
    exit: 'differs',
    means: "a packet was rejected by a rule that is not Fairlead's",
  },
  DROPPED_BY_KERNEL: {
    exit: 'differs',
    means: 'a packet was lost, and by no rule of nf_tables',
  },
  ENDPOINT_REFUSES: { exit: 'differs', means: 'a packet reached an endpoint that refused it' },
  ENDPOINT_SILENT: { exit: 'differs', means: 'a packet left for an endpoint, and no answer came' },
  DROPPED_BY_PROGRAM: {
    exit: 'differs',
    means: 'a packet was dropped by an eBPF program, a policy of IPsec or a security module',
  },
  DROPPED_REVERSE_PATH: {
    exit: 'differs',
    means: 'a packet was dropped by rp_filter: the way back to its source is another one',
  },
  NOT_FORWARDED: {
    exit: 'differs',
    means: 'a packet was dropped because the machine does not forward packets',
  },
  NO_ROUTE: {
    exit: 'differs',
    means: 'a packet was dropped because no route leads to its endpoint',
  },
  NO_NEIGHBOUR: {
    exit: 'differs',
    means: 'a packet was dropped because no machine answers for the address of its next hop',
  },
  CONNTRACK_FULL: {
    exit: 'differs',
    means: 'a packet was dropped because conntrack has no room for its connection',
  },
  TOO_BIG: { exit: 'differs', means: 'a packet was dropped because it is larger than the MTU' },
  ENDPOINT_OVERLOADED: {
    exit: 'differs',
    means: 'a packet was dropped by the socket of the endpoint, which has no room',
  },
  LARGE_PACKETS_LOST: {
    exit: 'differs',
    means: 'with --size: an endpoint answered, and packets of full size do not arrive there',
  },
  NOT_AS_PREDICTED: {
    exit: 'differs',
    means: 'the rules in the kernel did something else with a packet than predicted',
  },
  BEHIND: { exit: 'doesNotReach', means: 'the agent has not written the row yet' },
  PORT_NOT_DECLARED: {
    exit: 'noSuchThing',
    means: 'a Service has the address, and not the port',
  },
  NO_SUCH_ADDRESS: { exit: 'noSuchThing', means: 'no Service has the address' },
};

/**
 * `proven`: a packet did what the code says. `contradicted`: a packet did something else than the rows
 * say, and the code tells what. `predicted`: the rows say so, or the agent.
 */
export type Certainty = 'proven' | 'contradicted' | 'predicted';

/** `judgement`: of a packet; undefined: none was sent. */
export function certaintyOf(
  code: Code,
  judgement: { readonly agrees: boolean } | undefined,
): Certainty {
  if (judgement === undefined || code === 'WOULD_REACH') return 'predicted';
  return judgement.agrees ? 'proven' : 'contradicted';
}

/** `isProofAsked`: `--probe` was given. */
export function exitOf(
  { code, proof }: { readonly code: Code; readonly proof: Pick<Proof, 'agrees'> | null },
  isProofAsked = false,
): number {
  if (proof?.agrees === false) return EXIT.differs;
  const { exit } = CODES[code];
  return exit !== 'noSuchThing' && isProofAsked && proof === null ? EXIT.notProven : EXIT[exit];
}
