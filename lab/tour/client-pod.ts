import type { Lab } from '../lab.ts';

export interface ClientPod {
  /** For `stage.on`. */
  readonly host: string;
  readonly address: string;
}

/** A pod to ask from; no Service selects it. */
export async function runClientPod(
  lab: Lab,
  { nodeIndex }: { readonly nodeIndex: number },
): Promise<ClientPod> {
  const pod = await lab.pods.run({
    namespace: 'default',
    name: 'client',
    nodeIndex,
    labels: { app: 'client' },
    ports: [],
    ready: true,
    hostNetwork: false,
    server: 'agnhost',
  });
  return { host: 'default-client', address: pod.address.ipv4 };
}
