import { FORWARDER_ADDRESSES } from '../../../dataplanes/shared/forwarder-addresses.ts';
import type { Answers } from './protocol.ts';
import { currentSockets } from './run-files.ts';
import { askOnce } from './running.ts';

const DEADLINE_MS = 10_000;

/** Where conntrack entries lead that only hand a connection over to the forwarder. */
export const LISTENER_ADDRESSES: readonly string[] = Object.values(FORWARDER_ADDRESSES);

/** The first connections of the running forwarder; undefined: there is none. */
export async function readConnections(of: {
  readonly runFolder: string;
  readonly most: number;
}): Promise<Answers['connections'] | undefined> {
  const { control } = currentSockets(of.runFolder);
  return await askOnce(control, { do: 'connections', most: of.most }, DEADLINE_MS);
}
