import { hostname } from 'node:os';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import type { ProofNeeds } from '../../../explain/proof/proof.ts';

/** By which a pod that was left behind is found. */
export const POD_LABEL = { key: 'app.kubernetes.io/name', value: 'fairlead-explain' } as const;
/** The process that deletes it: `HOSTNAME/PID`. */
export const OWNER_ANNOTATION = 'kubectl-fairlead/owner';
export const CONTAINER = 'explain';

/** Where the agent's socket is, in its pod and in ours. */
const RUN_FOLDER = '/run/fairlead';
/** Where container runtimes keep the network namespaces of pods. */
const NAMESPACES_FOLDER = '/run/netns';
/** The process of the container does nothing; the first process gets no signal that it does not handle. */
const WAIT = "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 2 ** 30)";
/** Enough for one answer, and no more of a node that is short of memory. */
const RESOURCES = {
  requests: { cpu: '10m', memory: '64Mi' },
  limits: { memory: '512Mi' },
};

export interface DebugPodWanted {
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  readonly needs: ProofNeeds;
  /** The kubelet ends it after this time, also where nobody deletes it. */
  readonly deadlineSeconds: number;
  /** As `kubectl get pod -o json` prints it, and its container that runs Fairlead. */
  readonly agentPod: JsonRecord;
  readonly agentContainer: string;
}

/** A pod that can be created, in the words of the API. */
export interface DebugPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName: string;
    readonly containers: readonly [{ readonly image: string }];
  } & JsonRecord;
}

interface Mount {
  readonly name: string;
  readonly path: string;
  readonly mountPath: string;
  readonly isWritable: boolean;
}

function ownOwner(): string {
  return `${hostname()}/${process.pid}`;
}

/**
 * A pod beside the agent, with its image and its folders of the node, and the rights that the proof
 * needs. Undefined: the agent's socket is inside of its container, so that no other pod can ask it.
 */
export function debugPod(wanted: DebugPodWanted): DebugPod | undefined {
  const { name, namespace, node, needs, deadlineSeconds, agentPod, agentContainer } = wanted;
  const spec = recordAt(agentPod, 'spec');
  const container = arrayAt(spec, 'containers')
    .filter(isRecord)
    .find((each) => textAt(each, 'name') === agentContainer);
  if (container === undefined) return undefined;
  const mounts = mountsOf(spec, container, needs);
  if (!mounts.some(({ mountPath }) => mountPath === RUN_FOLDER)) return undefined;
  const labels = { [POD_LABEL.key]: POD_LABEL.value };
  const pullSecrets = arrayAt(spec, 'imagePullSecrets');
  return {
    metadata: { name, namespace, labels, annotations: { [OWNER_ANNOTATION]: ownOwner() } },
    spec: {
      nodeName: node,
      hostNetwork: true,
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds,
      // With 0 the object would be gone before the container has ended.
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // It stays on a node with taints, and is evicted from one that no longer answers.
      tolerations: [
        { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: deadlineSeconds },
      ],
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets }),
      containers: [containerOf(container, { needs, mounts })],
      volumes: mounts.map(({ name: volume, path }) => ({ name: volume, hostPath: { path } })),
    },
  };
}

function containerOf(
  agent: JsonRecord,
  { needs, mounts }: { readonly needs: ProofNeeds; readonly mounts: readonly Mount[] },
): { readonly image: string } & JsonRecord {
  const seLinuxOptions = recordAt(recordAt(agent, 'securityContext'), 'seLinuxOptions');
  return {
    name: CONTAINER,
    image: textAt(agent, 'image'),
    // The node has it: the agent runs from it.
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/local/bin/node', '-e', WAIT],
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: needs.capabilities },
      seccompProfile: { type: 'RuntimeDefault' },
      ...(Object.keys(seLinuxOptions).length === 0 ? {} : { seLinuxOptions }),
    },
    resources: RESOURCES,
    volumeMounts: mounts.map(({ name, mountPath, isWritable }) => ({
      name,
      mountPath,
      readOnly: !isWritable,
      // A network namespace is a mount, which may come while the pod runs.
      ...(mountPath === NAMESPACES_FOLDER ? { mountPropagation: 'HostToContainer' } : {}),
    })),
  };
}

/** Folders of the node that the agent has; the eBPF modes have more than one. */
function mountsOf(spec: JsonRecord, container: JsonRecord, needs: ProofNeeds): readonly Mount[] {
  const volumes = arrayAt(spec, 'volumes').filter(isRecord);
  const paths = new Map(
    volumes.flatMap((each): [string, string][] => {
      const path = textAt(recordAt(each, 'hostPath'), 'path');
      return path === '' ? [] : [[textAt(each, 'name'), path]];
    }),
  );
  const own = arrayAt(container, 'volumeMounts')
    .filter(isRecord)
    .flatMap((each): Mount[] => {
      const [name, mountPath] = [textAt(each, 'name'), textAt(each, 'mountPath')];
      const path = paths.get(name);
      const isWritable = mountPath === RUN_FOLDER;
      return path === undefined ? [] : [{ name, path, mountPath, isWritable }];
    });
  const hasNamespaces = own.some(({ mountPath }) => mountPath === NAMESPACES_FOLDER);
  if (!needs.clientNamespaces || hasNamespaces) return own;
  const name = 'client-namespaces';
  const added = { name, path: NAMESPACES_FOLDER, mountPath: NAMESPACES_FOLDER, isWritable: false };
  return [...own, added];
}

/** What it is and may do, in one line for a person. */
export function debugPodText({ metadata, spec }: DebugPod, needs: ProofNeeds): string {
  const folders = arrayAt(spec, 'volumes')
    .filter(isRecord)
    .map((each) => textAt(recordAt(each, 'hostPath'), 'path'));
  return [
    `pod ${metadata.namespace}/${metadata.name} on ${spec.nodeName} sends a packet, and is deleted then`,
    `image ${spec.containers[0].image}`,
    `capabilities ${needs.capabilities.join(' ')}`,
    'the network of the node',
    `its ${folders.join(', ')}`,
    `at most ${String(spec['activeDeadlineSeconds'])} s`,
    '--no-debug-pod does without',
  ].join('; ');
}
