import type net from 'node:net';
import type { Duplex } from 'node:stream';
import { ClusterError } from '../../../cluster/cluster-error.ts';
import type { ProblemListener } from '../../../cluster/source.ts';
import type { PodName } from '../port-forward/handshake.ts';

/** What connects to pods: `PodTunnels`. */
export interface PodDial {
  connect(pod: PodName, port: number): Promise<Duplex>;
}

export interface CarryOptions {
  readonly podAt: (address: string, port: number) => PodName | 'disputed' | undefined;
  readonly tunnels: PodDial;
  readonly onProblem: ProblemListener;
}

/**
 * Carries an accepted connection, whose own address is that of the pod. Nothing is read from the
 * client before the pod can be reached; a failure is a reset, as of a host that refuses.
 */
export async function carry(client: net.Socket, options: CarryOptions): Promise<void> {
  client.on('error', () => client.destroy());
  const address = client.localAddress?.replace(/^::ffff:/, '') ?? '';
  const port = client.localPort ?? 0;
  const pod = options.podAt(address, port);
  if (pod === undefined || pod === 'disputed') {
    if (pod === 'disputed') options.onProblem(disputed(address));
    client.resetAndDestroy();
    return;
  }
  let stream: Duplex;
  try {
    stream = await options.tunnels.connect(pod, port);
  } catch (error) {
    tell(error, options);
    client.resetAndDestroy();
    return;
  }
  stream.on('error', (error) => {
    tell(error, options);
    if (!client.destroyed) client.resetAndDestroy();
  });
  client.on('close', () => stream.destroy());
  if (client.destroyed) {
    stream.destroy();
    return;
  }
  client.pipe(stream).pipe(client);
}

function disputed(address: string): ClusterError {
  const message = `EndpointSlices of several namespaces name a pod of theirs at ${address}`;
  return new ClusterError('POD_ADDRESS_DISPUTED', message, {
    next: 'find who writes them: kubectl get endpointslices -A -o wide',
  });
}

function tell(error: unknown, { onProblem }: CarryOptions): void {
  if (!(error instanceof ClusterError)) throw error;
  onProblem(error);
}
