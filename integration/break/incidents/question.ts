/** What a connection, or one exchange of datagrams, of a real client got. */
export type Got =
  | 'answered'
  /** By a pod that is no endpoint of the Service. */
  | 'answered by another'
  /** By a TCP reset or an ICMP error. */
  | 'refused'
  | 'timed out'
  /** Connected, and then nothing came back. */
  | 'accepted, then silent';

/** A client of node1: the pod `shop/cart`, the node itself, or a machine outside. */
export type ClientName = 'cart' | 'host' | 'outside';

export interface Question {
  readonly from: ClientName;
  /** `ADDRESS:PORT`, with `/udp` for datagrams. */
  readonly to: string;
  /** How many connections are opened; 3 when not given. */
  readonly times?: number;
  /** A request of so many bytes that come back; else a short one. */
  readonly bytes?: number;
  readonly sourcePort?: number;
  /** Another address of the machine outside. */
  readonly sourceAddress?: string;
  /** A DNS query. */
  readonly asksName?: true;
  /** Pods that may answer; those named `web-…` when not given. */
  readonly answeredBy?: RegExp;
}

export type NodeName = 'node1' | 'node2';
