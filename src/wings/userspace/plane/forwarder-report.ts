import type { Answers } from './forwarder-protocol.ts';

/** The process that copies between client and endpoint itself. */
export interface ForwarderReport {
  /** Undefined: there is none, or it does not answer. */
  readonly process?: ForwarderProcess;
  /** Where new TCP connections go now. */
  readonly newConnectionsTo: 'forwarder' | 'kernel';
  /** For `kernel`: the reason, for people. */
  readonly why?: string;
  /** Processes started by this agent; 0: it found one. */
  readonly startCount: number;
  /** Open connections that one process handed over to the next, since the agent started. */
  readonly handedOver: number;
  /** Rows for which it has no room, by namespace: the kernel translates for them. */
  readonly declined?: {
    readonly rowCount: number;
    readonly namespaces: readonly { readonly name: string; readonly rowCount: number }[];
  };
  /** New TCP connections that the kernel translated instead. Undefined: not counted. */
  readonly translatedByKernel?: number;
}

export interface ForwarderProcess {
  readonly pid: number;
  readonly threadCount: number;
  /** Connections that it can hold at once. */
  readonly mostConnections: number;
  /** Sums over all endpoints, also over those that are gone. */
  readonly totals: Answers['totals'];
}
