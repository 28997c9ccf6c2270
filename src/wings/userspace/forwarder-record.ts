import { setTimeout as sleep } from 'node:timers/promises';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { ModeProof, ProcessConnection } from '../../modes/proof/mode-proof.ts';
import { readConnections } from './plane/forwarder-flows.ts';

/** A dial to another node takes milliseconds; one that takes longer has met an endpoint that is silent. */
const DEADLINE_MS = 2000;
const POLL_MS = 20;
const MOST_CONNECTIONS = 100_000;

/** Reads the forwarder's own record of a connection, until it has reached an endpoint. */
export const connectedByForwarder: NonNullable<ModeProof['connectedTo']> = async (connection) => {
  const { runFolder, client, signal } = connection;
  const name = `${client.address} ${client.port}`;
  const endMs = performance.now() + DEADLINE_MS;
  while (performance.now() < endMs && !signal.aborted) {
    const found = await readConnections({ runFolder, most: MOST_CONNECTIONS });
    const own = found?.first.find((each) => each.client === name);
    if (own !== undefined && own.state !== 'dialling') return connectionOf(own);
    await sleep(POLL_MS);
  }
  return undefined;
};

function connectionOf({ source, endpoint }: ProcessConnection): ProcessConnection {
  return { source: keyOf(source), endpoint: keyOf(endpoint) };
}

/** From `address port`. */
function keyOf(text: string): string {
  const [address = '', port = ''] = text.split(' ');
  return endpointKey({ address, port: Number(port) });
}
