import type { Family, Forwarding, Frontend, NodeView, SourceClass } from '../model.ts';

/** How a packet of a pod of this node is distinguished from all others, in one family. */
export type PodDetection =
  | { readonly by: 'cidr'; readonly cidr: string }
  | { readonly by: 'interface'; readonly name: string }
  | { readonly by: 'interface-prefix'; readonly prefix: string };

/** The facts of a node that decide what a packet meets. */
export interface PlaceFacts {
  /** Undefined: pods of this node cannot be detected in this family. */
  readonly podDetection: Readonly<Record<Family, PodDetection | undefined>>;
  /** Addresses that node ports are served on; `all`: every one of the machine but loopback. */
  readonly nodePortAddresses: Readonly<Record<Family, 'all' | readonly string[]>>;
  /**
   * Addresses of the machine, sorted, where the mode needs them: a Service address that is one of
   * them is left to packets, because a process may serve it on the node. Undefined: not needed.
   */
  readonly ownAddresses?: readonly string[];
  /** IPv4 loopback too; only some modes can. */
  readonly nodePortsOnLocalhost?: boolean;
  /** Families whose TCP node ports on loopback the agent relays itself; planes ignore them. */
  readonly relayedLocalhost?: readonly Family[];
  /**
   * Sorted names, with `*` at the end as a wildcard: only connections that come in by such an
   * interface, and those of the machine's own sockets, are translated. Undefined: all connections.
   */
  readonly clientInterfaces?: readonly string[];
  /** Ranges of the cluster's Service addresses, sorted: an address in one that no Service has is dropped. */
  readonly serviceRanges: readonly string[];
  /**
   * False: only the Services of a scope are known, so that others may have the remaining addresses
   * of these ranges, and packets to them are left alone.
   */
  readonly knowsEveryService?: false;
}

/**
 * What the rules of a mode do not do, although the policy says so. Packets that are neither rejected
 * nor dropped go on untranslated.
 */
export interface LeftAlone {
  /** To a port that no Service at the address has, and to unassigned addresses of Service ranges. */
  readonly unknownPorts: boolean;
  /** Of the node itself, to external and load-balancer IPs without endpoints. */
  readonly ownPacketsToExternalIPs: boolean;
  /**
   * Source ranges and the addresses of node ports, where there are no endpoints: every client is
   * rejected, at every address of the node.
   */
  readonly limitsWithoutEndpoints: boolean;
}

/** A node, as far as it decides what happens to a connection. */
export interface Place {
  readonly view: NodeView;
  readonly facts: PlaceFacts;
  /** Addresses of the machine, canonical, as far as they are known. */
  readonly machineAddresses: readonly string[];
  /** Nothing says which addresses pods have, so that it is not known who is masqueraded. */
  readonly isPodRangeUnknown?: true;
  /** Undefined: the mode's rules do all that the policy says. */
  readonly leavesAlone?: LeftAlone;
  /**
   * Where the mode does not give each endpoint the same share: on what it depends, such as `if a
   * hash of the client's address selects it (sh)`. Undefined, or no answer: the shares are equal.
   */
  readonly unevenChoice?: UnevenChoice;
  /** What makes a connection that is forwarded. Undefined, or no answer: rules translate packets. */
  readonly madeBy?: MadeBy;
}

/** Whether the machine is known to have this address. */
export function isOwnAddress(address: string, { view, facts, machineAddresses }: Place): boolean {
  return [machineAddresses, view.nodeIPs, facts.ownAddresses ?? []].some((all) =>
    all.includes(address),
  );
}

/**
 * `socket`: the client's own socket is connected to the endpoint, and no packet is translated.
 * `process`: a process of the mode makes a connection of its own.
 */
export type MadeBy = (
  to: { readonly row: Forwarding; readonly frontend: Frontend },
  from: SourceClass,
) => 'socket' | 'process' | undefined;

export type UnevenChoice = (
  to: { readonly row: Forwarding; readonly frontend: Frontend },
  from: SourceClass,
) => string | undefined;
