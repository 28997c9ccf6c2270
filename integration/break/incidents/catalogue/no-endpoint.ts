import type { Incident } from '../incident.ts';
import { FROM_CART } from '../shop.ts';
import { addPod, addService, createService, sliceOf } from '../shop-objects.ts';

const NO_ENDPOINT = {
  code: 'REFUSED_NO_ENDPOINTS',
  exit: 3,
  says: /no .*endpoint/,
  most: 1,
} as const;

/** Services without an endpoint, each for another reason. */
export const NO_ENDPOINT_INCIDENTS: readonly Incident[] = [
  {
    name: 'selector matches no pod',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'lost',
        spec: { clusterIP: '10.96.51.1', selector: { app: 'wbe' } },
        endpoints: 0,
      });
    },
    client: { from: 'cart', to: '10.96.51.1:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/lost ${FROM_CART}`,
      ...NO_ENDPOINT,
      cause: /selector .*(matches|selects) no pod/,
      next: { names: /kubectl .*get pods/, typed: 'shows' },
    },
  },
  {
    name: 'no pod is ready',
    produce: async (scene, undo) => {
      await addPod(scene, undo, {
        name: 'late-1',
        node: 1,
        labels: { app: 'late' },
        ready: false,
      });
      await addService(scene, undo, {
        name: 'late',
        spec: { clusterIP: '10.96.51.2', selector: { app: 'late' } },
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.51.2:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/late ${FROM_CART}`,
      ...NO_ENDPOINT,
      cause: /(none|no pod|not one|0 of 1).{0,40}ready|not ready/,
      next: { names: /kubectl .*(get|describe) pods?/, typed: 'shows' },
    },
  },
  {
    name: 'targetPort by a name that no container has',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'typo',
        spec: {
          clusterIP: '10.96.51.3',
          selector: { app: 'web' },
          ports: [{ name: 'http', port: 80, targetPort: 'htpp' }],
        },
        endpoints: 0,
      });
    },
    client: { from: 'cart', to: '10.96.51.3:80' },
    gets: ['refused'],
    explain: { typed: `explain shop/typo ${FROM_CART}`, ...NO_ENDPOINT, cause: /htpp/ },
  },
  {
    name: 'port of the slice has another name',
    produce: async (scene, undo) => {
      await addService(scene, undo, {
        name: 'named',
        spec: { clusterIP: '10.96.51.4', ports: [{ name: 'web', port: 80, targetPort: 8080 }] },
        slices: [sliceOf('named', [{ address: '10.130.0.2' }])],
        endpoints: 0,
      });
    },
    client: { from: 'cart', to: '10.96.51.4:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/named ${FROM_CART}`,
      ...NO_ENDPOINT,
      cause: /port `?web`?.*`?http`?|`?http`?.*port `?web`?/,
    },
  },
  {
    name: 'slice labelled for another Service',
    produce: async (scene, undo) => {
      const slice = sliceOf('mislabelled', [{ address: '10.130.0.2' }]);
      const labels = { 'kubernetes.io/service-name': 'mislabeled' };
      const metadata = { name: 'mislabelled-k2m9p', labels };
      await addService(scene, undo, {
        name: 'mislabelled',
        spec: { clusterIP: '10.96.51.5' },
        slices: [{ ...slice, metadata }],
        endpoints: 0,
      });
    },
    client: { from: 'cart', to: '10.96.51.5:80' },
    gets: ['refused'],
    explain: {
      typed: `explain shop/mislabelled ${FROM_CART}`,
      ...NO_ENDPOINT,
      cause: /mislabeled|kubernetes\.io\/service-name/,
    },
  },
  {
    name: 'internalTrafficPolicy Local, no endpoint here',
    produce: async (scene, undo) => {
      await addPod(scene, undo, { name: 'web-inner', node: 2, labels: { app: 'inner' } });
      await addService(scene, undo, {
        name: 'inner',
        spec: {
          clusterIP: '10.96.51.6',
          selector: { app: 'inner' },
          internalTrafficPolicy: 'Local',
        },
        endpoints: 1,
      });
    },
    client: { from: 'cart', to: '10.96.51.6:80' },
    gets: ['timed out'],
    explain: {
      typed: `explain shop/inner ${FROM_CART}`,
      code: 'DROPPED_NO_LOCAL_ENDPOINTS',
      exit: 3,
      says: /on this node/,
      cause: /internalTrafficPolicy/,
      // A client cannot choose the node that its ClusterIP is translated on.
      next: { names: /^(?!connect to a node).*internalTrafficPolicy/ },
    },
  },
  {
    name: 'headless Service',
    produce: async (scene, undo) => {
      await createService(scene, undo, {
        name: 'headless',
        spec: { clusterIP: 'None', selector: { app: 'web' } },
      });
    },
    client: undefined,
    gets: [],
    explain: {
      typed: `explain shop/headless ${FROM_CART}`,
      code: undefined,
      exit: 1,
      says: /headless/,
      cause: /headless/,
    },
  },
  {
    name: 'ExternalName',
    produce: async (scene, undo) => {
      await createService(scene, undo, {
        name: 'database',
        spec: { type: 'ExternalName', externalName: 'db.example.com' },
      });
    },
    client: undefined,
    gets: [],
    explain: {
      typed: `explain shop/database ${FROM_CART}`,
      code: undefined,
      exit: 1,
      says: /ExternalName/,
      cause: /db\.example\.com/,
    },
  },
];
