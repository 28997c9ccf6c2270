import type { Endpoint, EndpointList, Forwarding, NotServed } from '../model.ts';
import type { Found } from './destination.ts';

/** What happens to a packet that no endpoint gets. `pass`: it goes on, wherever the routes lead. */
export type LostAction = 'reject' | 'drop' | 'pass';

/** `other-service`: the Service that has the address gets it. */
export type PredictedAction = 'forward' | 'other-service' | LostAction;

/** To one of these endpoints, each with the same chance. */
export interface Forwarded extends Found {
  readonly code: 'WOULD_REACH';
  readonly action: 'forward';
  readonly list: EndpointList;
  /** The endpoint sees an address of the node. */
  readonly masquerade: boolean;
  readonly endpoints: readonly Endpoint[];
  /** 0: none. */
  readonly affinitySeconds: number;
  /** The agent accepts the connection on loopback and copies it. */
  readonly relayed?: true;
}

/** To an endpoint's own address: no rule translates it, and the routes lead it there. */
export interface Direct {
  readonly code: 'NOT_TRANSLATED';
  readonly action: 'pass';
  readonly endpointOf: Forwarding;
}

/** What is to become of a new connection, by the rows alone. */
export type Prediction =
  | Forwarded
  | Direct
  | ({
      readonly code: 'REFUSED_NO_ENDPOINTS';
      readonly action: 'reject' | 'pass';
      /** The kernel rejects it, because the agent relays nothing there now. Undefined: a rule does. */
      readonly relayed?: true;
    } & Found)
  /** The policy is Local, and this machine has no Node object. */
  | ({ readonly code: 'REFUSED_NOT_A_NODE'; readonly action: 'reject' | 'pass' } & Found)
  | ({ readonly code: 'DROPPED_NO_LOCAL_ENDPOINTS'; readonly action: 'drop' } & Found)
  | ({
      readonly code: 'DROPPED_SOURCE_RANGE';
      readonly action: 'drop';
      readonly allowedSources: readonly string[];
    } & Found)
  /** The Service claims the address, and this node does not serve it. */
  | ({
      readonly code: 'NOT_SERVED';
      readonly action: 'other-service' | LostAction;
      readonly notServed: NotServed;
    } & Found)
  /** Only the node's own connections are served here. */
  | ({ readonly code: 'NOT_A_CLIENT'; readonly action: 'pass' } & Found)
  /** A node port, at an address of this node that serves none. */
  | ({ readonly code: 'NODE_PORT_NOT_HERE'; readonly action: 'pass' } & Found)
  | {
      readonly code: 'PORT_NOT_DECLARED';
      readonly action: LostAction;
      readonly rows: readonly Forwarding[];
    }
  | {
      readonly code: 'NO_SUCH_ADDRESS';
      readonly action: LostAction;
      /** The Service range that it is in. */
      readonly range?: string;
      readonly nodePort?: Found;
    };

export type PredictedCode = Prediction['code'];
