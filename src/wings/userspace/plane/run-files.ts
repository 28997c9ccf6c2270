import { join } from 'node:path';

/** The sockets of one forwarder in the run folder. */
export interface ForwarderSockets {
  /** Where the agent asks. */
  readonly control: string;
  /** Where listeners and pairs are handed over with their descriptors (SOCK_SEQPACKET). */
  readonly handover: string;
}

/** Of the forwarder that has the names: the last one that took over. */
export function currentSockets(runFolder: string): ForwarderSockets {
  return {
    control: join(runFolder, 'forwarder.sock'),
    handover: join(runFolder, 'forwarder-handover.sock'),
  };
}

/** Of a forwarder that has not taken over yet. */
export function newSockets(runFolder: string, pid: number): ForwarderSockets {
  return {
    control: join(runFolder, `forwarder-${pid}.sock`),
    handover: join(runFolder, `forwarder-${pid}-handover.sock`),
  };
}
