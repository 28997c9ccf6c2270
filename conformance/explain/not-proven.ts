/** Questions to which `fairlead explain` may have no proof, by what it says, and why that is right. */
const EXCLUSIONS: readonly { readonly says: RegExp; readonly reason: string }[] = [
  {
    says: /would write an affinity entry/,
    reason: 'a probe would bind the client to an endpoint before the scenario does',
  },
  {
    says: /the agent itself accepts connections there/,
    reason: 'node ports on loopback that the agent relays meet no rule',
  },
  {
    says: /the client is an endpoint itself, and a packet to it would be delivered/,
    reason:
      'behind a socket hook a datagram of a client that is an endpoint itself reaches it, and no drop of the node is on the way',
  },
  {
    says: /the rules are those of iptables-legacy, which no trace tells of/,
    reason: 'no trace tells of rules of iptables-legacy, so what rejects or drops is not proven',
  },
];

/** The reason, for the table; undefined: there should have been a proof. */
export function whyNotProven(says: string): string | undefined {
  return EXCLUSIONS.find((each) => each.says.test(says))?.reason;
}

/** Of questions whose connections are counted. */
export const IN_TURN =
  'who gets the next connection follows from those before it, and a probe would be one of them';

const NOT_OF_ROWS =
  'whether an endpoint answers is not in the rows; a forwarder passes over one that does not';

/** Scenarios in which `fairlead explain` is not asked, and why. */
const SCENARIOS: Readonly<Record<string, string>> = {
  'node-cache/has-the-cluster-ip':
    'a program of the node serves the address, and its own rules keep packets from translation, which is not predicted',
  'forwarding/dead-but-listed': NOT_OF_ROWS,
  'forwarding/unreachable-but-listed': NOT_OF_ROWS,
};

/** Undefined: it is asked. */
export function whyNotExplained(scenario: string): string | undefined {
  return SCENARIOS[scenario];
}
