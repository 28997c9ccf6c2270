import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNoEndpoint } from './no-endpoint.ts';
import {
  candidate,
  container,
  pod,
  ROW,
  service,
  slice,
  surroundings,
} from './testing/example-surroundings.ts';

const BACKING = { type: 'ClusterIP', hasSelector: true, slices: 1, endpoints: 0, ports: [] };
const NONE = { unknown: 'pods cannot be read with your credentials: forbidden' };
const UNREAD = { service: NONE, slices: NONE, pods: NONE, workloads: NONE };
const MANUAL = service({ selector: {} });

describe('why a row has no endpoint: its selector', () => {
  it('names the pod that a typing error in the selector misses, and repairs it', () => {
    const around = surroundings({ service: service({ selector: { app: 'wbe' } }), pods: [pod()] });
    assert.deepEqual(whyNoEndpoint(ROW, around), {
      cause: 'no pod matches',
      text: 'its selector app=wbe matches no pod of namespace shop; pod web-1 has app=web',
      next: [
        'kubectl -n shop get pods --show-labels',
        'kubectl -n shop set selector service web app=web',
      ],
    });
  });

  it('lists what the pods of the namespace have if none is nearly meant', () => {
    const selector = { app: 'reviews' };
    const pods = [pod(), pod({ labels: { app: 'cart' } })];
    const { text } = whyNoEndpoint(ROW, surroundings({ service: service({ selector }), pods }));
    assert.match(
      text,
      /app=reviews matches no pod of namespace shop; pods there have app=web, app/,
    );
  });

  it('says that the namespace has no pods, or pods without the label', () => {
    assert.match(whyNoEndpoint(ROW, surroundings()).text, /namespace shop, which has none$/);
    const around = surroundings({ pods: [pod({ labels: { run: 'x' } })] });
    assert.match(whyNoEndpoint(ROW, around).text, /; pods there have no label app$/);
  });

  it('names the workload that is scaled to 0, or that cannot make pods', () => {
    const web = { kind: 'Deployment', name: 'web', labels: { app: 'web' }, failure: '' };
    const scaled = surroundings({ more: { workloads: { known: [{ ...web, replicas: 0 }] } } });
    const zero = whyNoEndpoint(ROW, scaled);
    assert.match(zero.text, /: Deployment web, which would make them, has 0 replicas$/);
    assert.deepEqual(zero.next, ['kubectl -n shop scale deployment web --replicas=1']);
    const quota = { ...web, replicas: 2, failure: 'exceeded quota' };
    const full = whyNoEndpoint(ROW, surroundings({ more: { workloads: { known: [quota] } } }));
    assert.match(full.text, /: Deployment web cannot make them: exceeded quota$/);
    assert.deepEqual(full.next, ['kubectl -n shop describe deployment web']);
  });

  it('quotes words for the shell: labels of manifests may be anything', () => {
    const selector = { app: "w'b; rm -rf /" };
    const labels = { app: "w'a; rm -rf /" };
    const around = surroundings({ service: service({ selector }), pods: [pod({ labels })] });
    const [, repair] = whyNoEndpoint(ROW, around).next;
    assert.equal(repair, "kubectl -n shop set selector service web 'app=w'\\''a; rm -rf /'");
  });
});

describe('why a row has no endpoint: its pods', () => {
  const waiting = (reason: string, message: string) =>
    container({ isReady: false, state: { is: 'waiting', reason, message, exitCode: 0 } });

  it('says what each pod waits for, each reason once, terminating ones last', () => {
    const image = waiting('ImagePullBackOff', 'Back-off pulling image "x"');
    const pods = [
      pod({ name: 'web-0', isTerminating: true }),
      pod({ name: 'web-1', containers: [image] }),
      pod({ name: 'web-2', containers: [image] }),
    ];
    const reason = whyNoEndpoint(ROW, surroundings({ pods }));
    assert.equal(reason.cause, 'no pod is ready');
    assert.equal(
      reason.text,
      '3 pods match app=web, and none is ready: web-1 waits for container web: ImagePullBackOff, Back-off pulling image "x" (and 1 other); web-0 is terminating',
    );
    assert.deepEqual(reason.next, ['kubectl -n shop describe pod web-1']);
  });

  it('says so if all of them are terminating', () => {
    const pods = [pod({ isTerminating: true }), pod({ name: 'web-2', isTerminating: true })];
    const reason = whyNoEndpoint(ROW, surroundings({ pods }));
    assert.equal(reason.cause, 'only terminating');
    assert.match(
      reason.text,
      /^2 pods match app=web, and none is ready: web-1 is terminating \(and/,
    );
    assert.deepEqual(reason.next, ['kubectl -n shop get pods -o wide -l app=web']);
  });

  it('says that ready pods have no address of the family', () => {
    const row = { ...ROW, id: { ...ROW.id, family: 'IPv6' } } as const;
    const reason = whyNoEndpoint(row, surroundings({ pods: [pod()], slices: [slice()] }));
    assert.equal(reason.cause, 'no pod of the family');
    assert.equal(reason.text, 'its ready pod has no IPv6 address');
  });

  it('names the controller if a ready pod is in no slice', () => {
    const { cause, text } = whyNoEndpoint(ROW, surroundings({ pods: [pod()] }));
    assert.equal(cause, 'no slice');
    assert.match(text, /^pod web-1 is ready, and no EndpointSlice has it: the EndpointSlice contr/);
  });
});

describe('why a row has no endpoint: ports', () => {
  it('says which name the container ports have, and repairs targetPort', () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'htpp' }];
    const around = surroundings({
      service: service({ ports }),
      slices: [slice({ ports: [] })],
      pods: [pod()],
    });
    assert.deepEqual(whyNoEndpoint(ROW, around), {
      cause: 'port not in slices',
      text: 'targetPort htpp of port http is the name of no container port: its pods have http',
      next: [
        "kubectl -n shop get pods -l app=web -o 'jsonpath={.items[*].spec.containers[*].ports}'",
        `kubectl -n shop patch service web -p '{"spec":{"ports":[{"port":80,"targetPort":"http"}]}}'`,
      ],
    });
  });

  it('repairs a port by its place where two have one number, which the API merges by', () => {
    const port = { port: 80, targetPort: 'htpp' };
    const ports = [
      { name: 'quic', protocol: 'UDP', ...port },
      { name: 'http', protocol: 'TCP', ...port },
    ];
    const slices = [slice({ ports: [] })];
    const around = surroundings({ service: service({ ports }), slices, pods: [pod()] });
    const [, repair] = whyNoEndpoint(ROW, around).next;
    const patch = '[{"op":"replace","path":"/spec/ports/1/targetPort","value":"http"}]';
    assert.equal(repair, `kubectl -n shop patch service web --type=json -p '${patch}'`);
  });

  it('does not blame targetPort if the pods have its name and the slices are late', () => {
    const around = surroundings({ slices: [slice({ ports: [] })], pods: [pod()] });
    const { text } = whyNoEndpoint(ROW, around);
    assert.match(text, /^its EndpointSlices have 1 endpoint with no port, and .* http\/TCP$/);
  });

  it('compares the names if somebody made the slices', () => {
    const around = surroundings({
      service: MANUAL,
      slices: [slice({ ports: [{ name: 'web', protocol: 'TCP', port: 8080 }] })],
    });
    const { text, next } = whyNoEndpoint(ROW, around);
    assert.equal(
      text,
      'its EndpointSlices have 1 endpoint with port web, and the Service wants port http/TCP',
    );
    assert.match(next[1] ?? '', / -p '\{"spec":\{"ports":\[\{"port":80,"name":"web"\}\]\}\}'$/);
  });

  it('shows the protocol if that is what differs', () => {
    const ports = [{ name: 'http', protocol: 'UDP', port: 8080 }];
    const { text } = whyNoEndpoint(
      ROW,
      surroundings({ service: MANUAL, slices: [slice({ ports })] }),
    );
    assert.match(text, /with port http\/UDP, and the Service wants port http\/TCP$/);
  });

  it('knows it from the agent alone', () => {
    const backing = { ...BACKING, endpoints: 2, ports: [{ name: 'web', protocol: 'TCP' }] };
    const { cause, text, next } = whyNoEndpoint(
      { ...ROW, backing },
      surroundings({ more: UNREAD }),
    );
    assert.equal(cause, 'port not in slices');
    assert.match(text, /^its EndpointSlices have 2 endpoints with port web, and the Service wants/);
    assert.match(next.join(), /get endpointslices -l kubernetes\.io\/service-name=web -o yaml$/);
  });
});

describe('why a row has no endpoint: its slices', () => {
  it('finds the addresses of its pods in a slice that is labelled for another Service', () => {
    const around = surroundings({ pods: [pod()], slices: [slice({ service: 'wbe' })] });
    assert.deepEqual(whyNoEndpoint(ROW, around), {
      cause: 'slice of another service',
      text: 'EndpointSlice web-x1 (1 endpoint) is labelled for Service wbe, not web',
      next: [
        'kubectl -n shop get endpointslice web-x1 --show-labels',
        'kubectl -n shop label endpointslice web-x1 --overwrite kubernetes.io/service-name=web',
      ],
    });
  });

  it('finds it by its name where there is no selector, or no pod in manifests', () => {
    const slices = [slice({ service: '' })];
    const manual = whyNoEndpoint(ROW, surroundings({ service: MANUAL, slices }));
    assert.match(manual.text, /is labelled for no Service$/);
    const manifests = whyNoEndpoint(ROW, surroundings({ from: 'manifests', slices }));
    assert.equal(manifests.cause, 'slice of another service');
  });

  it('says that nobody makes slices for a Service without a selector', () => {
    const { cause, text } = whyNoEndpoint(ROW, surroundings({ service: MANUAL }));
    assert.equal(cause, 'no slice');
    assert.match(text, /no EndpointSlice is labelled kubernetes\.io\/service-name=web: without/);
    const slices = [slice({ addresses: [] })];
    const empty = whyNoEndpoint(ROW, surroundings({ service: MANUAL, slices }));
    assert.match(empty.text, /its EndpointSlice web-x1 has no endpoints: without/);
  });

  it('says that no proxy reads an Endpoints object', () => {
    const more = { legacyEndpoints: { known: 2 } };
    const { cause, text, next } = whyNoEndpoint(ROW, surroundings({ service: MANUAL, more }));
    assert.equal(cause, 'endpoints object only');
    assert.match(
      text,
      /its Endpoints object has 2 addresses, which no proxy reads, and the cluster/,
    );
    assert.deepEqual(next, ['kubectl -n shop get endpoints web --show-labels']);
  });

  it('names the family that the slices have', () => {
    const slices = [slice({ family: 'IPv6', addresses: ['fd00::2'] })];
    const { text } = whyNoEndpoint(ROW, surroundings({ service: MANUAL, slices }));
    assert.equal(text, 'its EndpointSlices have IPv6 endpoints only');
  });

  it('says of manifests that only a cluster makes slices', () => {
    const web = {
      kind: 'Deployment',
      name: 'web',
      labels: { app: 'web' },
      replicas: 2,
      failure: '',
    };
    const more = { workloads: { known: [web] } };
    const written = whyNoEndpoint(ROW, surroundings({ from: 'manifests', more }));
    assert.match(written.text, /a cluster makes one for the pods of Deployment web$/);
    const bare = whyNoEndpoint(ROW, surroundings({ from: 'manifests' }));
    assert.match(bare.text, /have no EndpointSlice of it: only a cluster makes them/);
    const slices = [slice({ addresses: [] })];
    const saved = whyNoEndpoint(ROW, surroundings({ from: 'manifests', slices }));
    assert.match(saved.text, /web-x1 has no endpoints, and the manifests have no pods that would/);
  });
});

describe('why a row has no endpoint: endpoints that do not serve', () => {
  it('says that all of them are terminating', () => {
    const candidates = [candidate({ state: 'gone' }), candidate({ state: 'gone' })];
    const { cause, text } = whyNoEndpoint({ ...ROW, candidates }, surroundings());
    assert.equal(cause, 'only terminating');
    assert.equal(text, 'its 2 endpoints are all terminating, and no longer serve');
  });

  it('gives the reasons of the pods rather than of the endpoints', () => {
    const probed = container({ isReady: false, readinessProbe: 'GET :8080/healthz' });
    const around = surroundings({ pods: [pod({ containers: [probed] })], slices: [slice()] });
    const { text } = whyNoEndpoint({ ...ROW, candidates: [candidate()] }, around);
    assert.equal(
      text,
      'only pod web-1 matches app=web, and it runs, but the readiness probe of container web (GET :8080/healthz) does not succeed',
    );
  });

  it('says that what was read is newer than the row', () => {
    const around = surroundings({ pods: [pod()], slices: [slice()] });
    const gone = whyNoEndpoint(ROW, around).text;
    assert.equal(
      gone,
      'its EndpointSlices have 1 endpoint by now, which the row does not have yet',
    );
    const { text } = whyNoEndpoint({ ...ROW, candidates: [candidate()] }, around);
    assert.equal(text, 'its endpoint is not ready, but pod web-1 is ready by now');
  });

  it('says who decides where the Service has no selector', () => {
    const around = surroundings({ service: MANUAL, slices: [slice()] });
    const { text, notKnown } = whyNoEndpoint({ ...ROW, candidates: [candidate()] }, around);
    assert.match(text, /^its endpoint is not ready; the Service has no selector, so Kubernetes/);
    assert.equal(notKnown, undefined);
  });

  it('says what is not known, and why, where pods cannot be read', () => {
    const around = surroundings({ more: UNREAD });
    const unready = whyNoEndpoint({ ...ROW, candidates: [candidate()], backing: BACKING }, around);
    assert.equal(unready.text, 'its endpoint is not ready');
    assert.equal(unready.notKnown, NONE.unknown);
    const empty = whyNoEndpoint({ ...ROW, backing: BACKING }, around);
    assert.equal(empty.cause, 'not known');
    assert.equal(empty.text, 'no EndpointSlice of it has an endpoint');
    assert.equal(empty.notKnown, NONE.unknown);
    const none = whyNoEndpoint({ ...ROW, backing: { ...BACKING, slices: 0 } }, around);
    assert.equal(none.text, 'it has no EndpointSlice');
  });
});
