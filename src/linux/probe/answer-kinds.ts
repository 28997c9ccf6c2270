/** What the client of a probe sees. */
export type ProbeAnswer =
  /** A SYN, ACK or an established connection. */
  | { readonly is: 'accepted'; readonly afterMs: number }
  /** A TCP reset, or an ICMP error that a port is unreachable. */
  | { readonly is: 'refused'; readonly afterMs: number }
  /** Another error: no route, host unreachable. */
  | { readonly is: 'unreachable'; readonly code: string; readonly afterMs: number }
  /** A datagram came. */
  | { readonly is: 'answered'; readonly afterMs: number }
  | { readonly is: 'silent' };

/** What became of data on an open connection. */
export interface LargeTransfer {
  readonly bytes: number;
  /** Of them, how many the other end's kernel has acknowledged. */
  readonly acknowledged: number;
  /** Of the largest packet, without its headers: what the two ends agreed on. */
  readonly segmentBytes: number;
  /** A packet of full size, or all there was, has arrived. */
  readonly isCarried: boolean;
  /** The connection ended before the deadline: then nothing is known of packets without an answer. */
  readonly hasEnded: boolean;
}
