import { describeOutcome, type Outcome } from '../questions/outcome.ts';

/** The part of `proof` in `fairlead explain -o json` that packets can be compared with. */
export interface ProofOfPacket {
  readonly kind: 'dry' | 'syn' | 'connect';
  readonly agrees: boolean;
  readonly outcome: {
    readonly is: 'forwarded' | 'handed over' | 'passed' | 'dropped' | 'rejected' | 'lost';
    readonly endpoint?: string;
  };
  readonly answer: { readonly is: string };
}

/** The code for rules that did something else than predicted. */
const RULES_DIFFER = 'NOT_AS_PREDICTED';

const NO_ENDPOINT_ANSWERED = 'ENDPOINT_SILENT';

/** What became of a probe, in the terms of the questions. */
type Fate = 'answered' | 'refused' | 'silent';

const FATES: Readonly<Record<Outcome['kind'], Fate>> = {
  answered: 'answered',
  echoed: 'answered',
  resolved: 'answered',
  status: 'answered',
  refused: 'refused',
  failed: 'refused',
  silent: 'silent',
};

/** Undefined: the probe met what the packets met; else where they differ. */
export function proofDisagrees(
  of: { readonly code: string; readonly sentence: string; readonly proof: ProofOfPacket },
  outcomes: readonly Outcome[],
): string | undefined {
  const { code, sentence, proof } = of;
  const fate = fateOf(proof, code);
  const fates = new Set(outcomes.map(({ kind }) => FATES[kind]));
  const seen = [...new Set(outcomes.map(describeOutcome))].slice(0, 4).join('; ');
  if (fate !== undefined && !fates.has(fate)) {
    return `the packet of explain was ${fate} (${code}: ${sentence}), and the packets of the scenario: ${seen}`;
  }
  // What lies outside of Fairlead, such as a dead endpoint, is not predicted: packets have met it too.
  const isOutside = code !== RULES_DIFFER && fate !== undefined;
  if (proof.agrees || isOutside) return undefined;
  return `the packet of explain does not do as predicted (${code}: ${sentence}): ${seen}`;
}

/** Undefined: it does not show. */
function fateOf({ kind, outcome, answer }: ProofOfPacket, code: string): Fate | undefined {
  // A forwarder accepts first, and resets its client if it then reaches no endpoint.
  if (answer.is === 'accepted' && code === NO_ENDPOINT_ANSWERED) return 'refused';
  if (answer.is === 'accepted' || answer.is === 'answered') return 'answered';
  if (answer.is === 'refused' || answer.is === 'unreachable') return 'refused';
  if (outcome.is === 'dropped') return 'silent';
  // No answer was to come, or a datagram is not answered.
  return kind === 'syn' ? 'silent' : undefined;
}
