import type { NotServedReason } from '../forwarding/not-served.ts';
import type { NodePortConflict } from './node-port-conflicts.ts';

/** Addresses that are not served, and node ports that take clients from a process. */
export interface AddressReport {
  readonly notServed: Readonly<Record<NotServedReason, number>>;
  readonly conflicts: readonly NodePortConflict[];
}

/** An address that is not served, for people. */
export interface NotServedAddress {
  /** `namespace/name:port`. */
  readonly service: string;
  /** `external-ip 10.96.7.7:80/TCP`. */
  readonly address: string;
  readonly reason: NotServedReason;
  readonly why: string;
}
