import { parseDocument } from 'yaml';
import { arrayAt, isRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { printWarning } from '../../../commands/terminal/print.ts';
import { formatProblem } from '../../../config/config-problem.ts';
import { buildConfig } from '../../../config/load-config.ts';
import { good, problem } from '../../../doctor/basic-finding.ts';
import { getJson, type Kubectl } from '../kubectl.ts';
import { missingRights, type Right, rightText } from '../kubectl-rights.ts';
import { type Asking, NAMESPACE, readDaemonSet } from './daemon-sets.ts';
import type { ProxyFiles } from './manifests.ts';
import type { StepCheck } from './step.ts';
import { imageOf } from './swap-checks.ts';

const CALL_MS = 15_000;
/** The mode that shares nothing with kube-proxy, whichever mode that has: both can run at once. */
const MODE = 'nftables';
const LEAST_KERNEL = { major: 5, minor: 13 } as const;

/** kube-proxy as kubeadm installs it. */
export interface FoundKubeProxy {
  readonly image: string;
  readonly files: ProxyFiles;
}

/** Throws where there is none that can be swapped. */
export async function findKubeProxy(kubectl: Kubectl): Promise<FoundKubeProxy> {
  const asking: Asking = { kubectl, call: { timeoutMs: CALL_MS } };
  const daemonSet = await readDaemonSet(asking, 'kube-proxy');
  const image = daemonSet === undefined ? '' : imageOf(daemonSet, 'kube-proxy');
  if (image === '') {
    throw new CommandError(`no DaemonSet kube-proxy in namespace ${NAMESPACE}`, {
      code: 'NO_KUBE_PROXY',
      next: 'this swaps kube-proxy as kubeadm installs it; docs/install.md has other distributions',
    });
  }
  if (/(^|\/)fairlead[:@]/.test(image)) {
    throw new CommandError(`DaemonSet kube-proxy runs Fairlead already (${image})`, {
      code: 'SWAPPED_BY_IMAGE',
      next: 'docs/install.md#one-line-back changes its image line back',
    });
  }
  const args = ['get', 'configmap', 'kube-proxy', '-n', NAMESPACE];
  const data = recordAt(await getJson(kubectl, args, asking.call), 'data');
  const given = {
    config: textAt(data, 'config.conf'),
    kubeconfig: textAt(data, 'kubeconfig.conf'),
  };
  if (given.config === '' || given.kubeconfig === '') {
    throw new CommandError('ConfigMap kube-proxy has no config.conf and kubeconfig.conf', {
      code: 'NO_KUBE_PROXY',
      next: 'this swaps kube-proxy as kubeadm installs it; docs/install.md has other distributions',
    });
  }
  return { image, files: configured(given) };
}

/** kube-proxy's own file, in which Fairlead gets a mode of its own. */
export function configured(given: ProxyFiles): ProxyFiles {
  const path = 'config.conf of ConfigMap kube-proxy';
  const theirs = buildConfig(new Map(), { path, text: given.config });
  if (theirs.settings.mode === MODE) return given;
  const document = parseDocument(given.config);
  document.setIn(['fairlead', 'mode'], MODE);
  const config = document.toString();
  const ours = buildConfig(new Map(), { path, text: config });
  for (const warning of ours.warnings) printWarning(formatProblem(warning));
  return { ...given, config };
}

/** That the person may do all of it, and that every node has a kernel that Fairlead runs on. */
export function prerequisites(kubectl: Kubectl, what: string): StepCheck {
  return async (signal) => {
    const call = { timeoutMs: CALL_MS, signal };
    const missing = await missingRights(kubectl, { rights: RIGHTS, ...call });
    const nodes = arrayAt(await getJson(kubectl, ['get', 'nodes'], call), 'items').filter(isRecord);
    const old = nodes.flatMap((node) => {
      const info = recordAt(recordAt(node, 'status'), 'nodeInfo');
      const kernel = textAt(info, 'kernelVersion');
      if (textAt(info, 'operatingSystem') !== 'linux' || isNewEnough(kernel)) return [];
      return [`${textAt(recordAt(node, 'metadata'), 'name')}: kernel ${kernel} is older than 5.13`];
    });
    const why = [...missing.map((right) => `you may not ${rightText(right)}`), ...old];
    return why.length === 0 ? [good(what)] : why.map((each) => problem(each));
  };
}

/** `6.1.0-18-amd64`. A version that cannot be read is left to the agent. */
export function isNewEnough(kernel: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernel) ?? [];
  if (major === undefined) return true;
  const { major: least, minor: leastMinor } = LEAST_KERNEL;
  return Number(major) > least || (Number(major) === least && Number(minor) >= leastMinor);
}

const IN_NAMESPACE: readonly Omit<Right, 'namespace'>[] = [
  ...['create', 'patch', 'delete'].map((verb) => ({ verb, group: 'apps', resource: 'daemonsets' })),
  { verb: 'create', resource: 'configmaps' },
  { verb: 'create', resource: 'serviceaccounts' },
  { verb: 'create', resource: 'pods', subresource: 'exec' },
];

/** Those of both ways: who may not go back must not begin. */
const RIGHTS: readonly Right[] = [
  ...IN_NAMESPACE.map((right) => ({ ...right, namespace: NAMESPACE })),
  {
    verb: 'create',
    group: 'rbac.authorization.k8s.io',
    resource: 'clusterrolebindings',
    namespace: '',
  },
  { verb: 'get', resource: 'nodes', subresource: 'proxy', namespace: '' },
];
