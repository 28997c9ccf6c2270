import type { Stopwatch } from './stopwatch.ts';

/** What happened to one connection or one exchange of datagrams. */
export type Outcome =
  | { readonly kind: 'answered'; readonly by: string; readonly source: string }
  | { readonly kind: 'echoed' }
  /** `stolenMs`: what the host took from the machine meanwhile. */
  | { readonly kind: 'refused'; readonly afterMs: number; readonly stolenMs?: number }
  | { readonly kind: 'silent' }
  /** What a DNS server said of the name: no address if there is none. */
  | { readonly kind: 'resolved'; readonly addresses: readonly string[] }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'status'; readonly status: number; readonly body: string };

/** How long no word counts as none. Every attempt ends by then, but for one that was accepted. */
export const SILENCE_MS = 2_000;
/** The connection is accepted, so there is an endpoint; a busy machine may answer late. */
export const ANSWER_MS = 10_000;

export function outcomeOfError(error: unknown, lapse: Stopwatch): Outcome {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (code === 'ECONNREFUSED') return { kind: 'refused', ...lapse() };
  return { kind: 'failed', code };
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'answered':
      return `answered by ${outcome.by}, who saw ${outcome.source}`;
    case 'refused':
      return `refused after ${outcome.afterMs.toFixed(0)} ms${stolenText(outcome.stolenMs)}`;
    case 'echoed':
    case 'silent':
      return outcome.kind;
    case 'resolved':
      return `resolved to ${outcome.addresses.join(', ') || 'no address'}`;
    case 'failed':
      return `failed with ${outcome.code}`;
    case 'status':
      return `HTTP ${outcome.status} ${outcome.body.replace(/\s+/g, ' ')}`;
  }
}

function stolenText(stolenMs = 0): string {
  return stolenMs === 0 ? '' : `, of which the host of the machine took ${stolenMs} ms`;
}
