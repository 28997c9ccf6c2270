/** The messages between a test and its host process. */

export type Transport = 'TCP' | 'UDP';

export interface Peer {
  readonly transport: Transport;
  readonly address: string;
  readonly port: number;
  /** 0 or missing: any. */
  readonly sourcePort?: number;
  readonly timeoutMs?: number;
  /** UDP: whether the socket is connected, and so hears of errors. */
  readonly connected?: boolean;
}

export interface Question extends Peer {
  /** So often, one after another, each by a socket of its own. */
  readonly count?: number;
  readonly payloadBytes?: number;
}

export interface Answer {
  /** The name of the host that answered, or why none did: a code of the system, or TIMEOUT. */
  readonly by: string;
  /** The address and port that it saw. */
  readonly saw: string;
  readonly sawPort: number;
  /** How much of the question came at once. */
  readonly bytes: number;
  /** The address that the answer came from, as the asker sees it. */
  readonly from: string;
}

export type Request =
  | { readonly id: number; readonly what: 'ask'; readonly question: Question }
  | { readonly id: number; readonly what: 'hold'; readonly peer: Peer }
  | { readonly id: number; readonly what: 'speak'; readonly held: number; readonly say: string };

export interface Response {
  readonly id: number;
  readonly answers: readonly Answer[];
}

export function failure(code: string): Answer {
  return { by: code, saw: '', sawPort: 0, bytes: 0, from: '' };
}
