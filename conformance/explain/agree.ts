import { describeOutcome, type Outcome } from '../questions/outcome.ts';

/** The part of what `fairlead explain -o json` prints that packets can be compared with. */
export interface Predicted {
  readonly code: string;
  readonly action: 'forward' | 'reject' | 'drop' | 'pass';
  readonly masquerade?: boolean;
  /** `address:port`. */
  readonly endpoints?: readonly string[];
  /** Those of them that see the client's address although others do not. */
  readonly keepingSource?: readonly string[];
  /** Those that see an address of the node although others see the client's. */
  readonly nodeSource?: readonly string[];
}

/** What the comparison knows besides. */
export interface Surroundings {
  /** Pods by their name, with every address that they serve at. */
  readonly podAddresses: ReadonlyMap<string, readonly string[]>;
  /** Source addresses that the client has. */
  readonly ownAddresses: readonly string[];
  /** Whether the endpoint's view of the source says something: a node is its own masquerade. */
  readonly comparesSource: boolean;
  /** Whether so many connections were made that every endpoint has got one. */
  readonly isExhaustive: boolean;
}

/** Undefined: packets did what was predicted; else where they differ. */
export function disagreement(
  predicted: Predicted,
  outcomes: readonly Outcome[],
  around: Surroundings,
): string | undefined {
  const fault = faultOf(predicted, outcomes, around);
  if (fault === undefined) return undefined;
  const seen = [...new Set(outcomes.map(describeOutcome))].slice(0, 4).join('; ');
  return `explain predicts ${predicted.code} (${predicted.action}), ${fault}: ${seen}`;
}

function faultOf(
  predicted: Predicted,
  outcomes: readonly Outcome[],
  around: Surroundings,
): string | undefined {
  switch (predicted.action) {
    case 'forward':
      return (
        wrongEndpoints(predicted, outcomes, around) ?? wrongSource(predicted, outcomes, around)
      );
    case 'reject':
      return outcomes.every(({ kind }) => kind === 'refused') ? undefined : 'not all were refused';
    case 'drop':
      return outcomes.every(({ kind }) => kind === 'silent') ? undefined : 'not all were silent';
    case 'pass':
      // Where the routes lead is not predicted.
      return undefined;
  }
}

function wrongEndpoints(
  { endpoints = [] }: Predicted,
  outcomes: readonly Outcome[],
  { podAddresses, isExhaustive }: Surroundings,
): string | undefined {
  const answered = new Set(outcomes.flatMap((o) => (o.kind === 'answered' ? [o.by] : [])));
  const addressesOf = (pod: string): readonly string[] => podAddresses.get(pod) ?? [];
  const extra = [...answered].filter((pod) => !isAmong(endpoints, addressesOf(pod)));
  if (extra.length > 0) return `${extra.join(', ')} is none of ${endpoints.join(', ')}`;
  if (!isExhaustive) return undefined;
  const heard = [...answered].flatMap(addressesOf);
  const missing = endpoints.filter((endpoint) => !isAmong([endpoint], heard));
  return missing.length === 0 ? undefined : `${missing.join(', ')} never answered`;
}

function wrongSource(
  { masquerade = false, keepingSource = [], nodeSource = [] }: Predicted,
  outcomes: readonly Outcome[],
  { podAddresses, ownAddresses, comparesSource }: Surroundings,
): string | undefined {
  if (!comparesSource) return undefined;
  const wrong = outcomes.find((outcome) => {
    if (outcome.kind !== 'answered') return false;
    const addresses = podAddresses.get(outcome.by) ?? [];
    // An endpoint that reaches itself is masqueraded whatever the policy says.
    if (addresses.some((address) => ownAddresses.includes(address))) return false;
    const isMasqueraded = masquerade
      ? !isAmong(keepingSource, addresses)
      : isAmong(nodeSource, addresses);
    return ownAddresses.includes(outcome.source) === isMasqueraded;
  });
  return wrong && `the source should ${masquerade ? 'not ' : ''}have been that of the client`;
}

function isAmong(endpoints: readonly string[], addresses: readonly string[]): boolean {
  return addresses.some((address) =>
    endpoints.some((endpoint) => endpoint.startsWith(`${bracketed(address)}:`)),
  );
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
