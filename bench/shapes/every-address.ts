import { ipBatch, namespaceName } from '../../lab/host/namespaces.ts';
import type { Lab } from '../../lab/lab.ts';
import { NODE, NODE_INDEX } from '../control/proxy-process.ts';
import { NAMESPACE, SERVE_PORT } from '../site/names.ts';
import { ENDPOINT_CIDR } from './objects.ts';

const NAME = 'everywhere';

/** One pod has the addresses of all endpoints, so that every connection to a large Service is answered. */
export async function serveEveryAddress(lab: Lab): Promise<void> {
  const pod = await lab.pods.run({
    namespace: NAMESPACE,
    name: NAME,
    nodeIndex: NODE_INDEX,
    labels: {},
    ports: [{ name: 'http', port: SERVE_PORT, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  await ipBatch(
    [`route add local ${ENDPOINT_CIDR} dev lo`],
    namespaceName({ lab: lab.name, role: `${NAMESPACE}-${NAME}` }),
  );
  await ipBatch(
    [`route add ${ENDPOINT_CIDR} via ${pod.address.ipv4}`],
    namespaceName({ lab: lab.name, role: NODE }),
  );
}
