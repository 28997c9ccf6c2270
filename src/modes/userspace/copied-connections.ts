import { FORWARDER_ADDRESSES } from '../../dataplanes/shared/forwarder-addresses.ts';
import { currentSockets } from '../../dataplanes/userspace/run-files.ts';
import { askOnce } from '../../dataplanes/userspace/running.ts';
import type { CopiedConnections } from '../mode.ts';

const DEADLINE_MS = 10_000;

export const COPIED_CONNECTIONS: CopiedConnections = {
  addresses: Object.values(FORWARDER_ADDRESSES),
  read: async ({ runFolder, most }) =>
    await askOnce(currentSockets(runFolder).control, { do: 'connections', most }, DEADLINE_MS),
};
