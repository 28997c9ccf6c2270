import type { Family, Forwarding, Frontend, NodeView, SourceClass } from '../model.ts';

/** The facts of a node that decide what a packet meets; `NodeFacts` of the data planes has them. */
export interface PlaceFacts {
  readonly podDetection: Readonly<Record<Family, PodSign | undefined>>;
  readonly nodePortAddresses: Readonly<Record<Family, 'all' | readonly string[]>>;
  readonly ownAddresses?: readonly string[];
  readonly nodePortsOnLocalhost?: boolean;
  readonly relayedLocalhost?: readonly Family[];
  readonly clientInterfaces?: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly knowsEveryService?: false;
}

/** How packets of pods of this node are recognised. */
export type PodSign =
  | { readonly by: 'cidr'; readonly cidr: string }
  | { readonly by: 'interface'; readonly name: string }
  | { readonly by: 'interface-prefix'; readonly prefix: string };

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
