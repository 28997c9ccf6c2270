import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';

/** A file below deploy/; each is named in tools/image/program.ts too. */
type ManifestFile =
  | 'manifests/service-account.yaml'
  | 'manifests/daemonset.yaml'
  | 'leftovers/fairlead.yaml'
  | 'leftovers/kube-proxy.yaml';

/** Replaced when the program is bundled: a bundle has no deploy/ beside it. */
declare const FAIRLEAD_MANIFESTS: Readonly<Record<ManifestFile, string>> | undefined;

/** Images of the manifests, by the name without its tag. */
export interface Images {
  readonly fairlead: string;
  readonly kubeProxy: string;
}

const FAIRLEAD_NAME = 'localhost/fairlead';
const KUBE_PROXY_NAME = 'registry.k8s.io/kube-proxy';

/** kube-proxy's files, as Fairlead reads them. */
export interface ProxyFiles {
  readonly config: string;
  readonly kubeconfig: string;
}

/** What `kubectl apply -k deploy/manifests` applies, with other images and files. */
export function fairleadObjects(files: ProxyFiles, images: Images): readonly JsonRecord[] {
  const metadata = {
    name: 'fairlead',
    namespace: 'kube-system',
    labels: { 'app.kubernetes.io/name': 'fairlead' },
  };
  const data = { 'config.conf': files.config, 'kubeconfig.conf': files.kubeconfig };
  return [
    ...objectsOf('manifests/service-account.yaml'),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
    ...objectsOf('manifests/daemonset.yaml').map((each) => withImages(each, images)),
  ];
}

/** The DaemonSet that removes what a proxy left. */
export function cleanupObjects(
  proxy: 'fairlead' | 'kube-proxy',
  images: Images,
): readonly JsonRecord[] {
  return objectsOf(`leftovers/${proxy}.yaml`).map((each) => withImages(each, images));
}

/** The image of our manifests, for who names none. */
export function usualImage(): string {
  const [daemonSet = {}] = objectsOf('manifests/daemonset.yaml');
  const [container = {}] = arrayAt(podSpecOf(daemonSet), 'containers').filter(isRecord);
  return textAt(container, 'image');
}

function objectsOf(file: ManifestFile): readonly JsonRecord[] {
  const text =
    typeof FAIRLEAD_MANIFESTS === 'object' ? FAIRLEAD_MANIFESTS[file] : textOfSources(file);
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter(isRecord);
}

function textOfSources(file: ManifestFile): string {
  return readFileSync(new URL(`../../../../deploy/${file}`, import.meta.url), 'utf8');
}

/** Of a DaemonSet. */
export function podSpecOf(daemonSet: JsonRecord): JsonRecord {
  return recordAt(recordAt(recordAt(daemonSet, 'spec'), 'template'), 'spec');
}

function withImages(daemonSet: JsonRecord, images: Images): JsonRecord {
  const pod = podSpecOf(daemonSet);
  const replaced = (name: string): readonly JsonRecord[] =>
    arrayAt(pod, name)
      .filter(isRecord)
      .map((each) => ({ ...each, image: imageFor(textAt(each, 'image'), images) }));
  const spec = recordAt(daemonSet, 'spec');
  const template = recordAt(spec, 'template');
  const podSpec = {
    ...pod,
    initContainers: replaced('initContainers'),
    containers: replaced('containers'),
  };
  return { ...daemonSet, spec: { ...spec, template: { ...template, spec: podSpec } } };
}

function imageFor(image: string, images: Images): string {
  if (image.startsWith(`${FAIRLEAD_NAME}:`)) return images.fairlead;
  return image.startsWith(`${KUBE_PROXY_NAME}:`) ? images.kubeProxy : image;
}
