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
