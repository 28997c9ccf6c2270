import { delimiter } from 'node:path';
import type { ClusterAccess } from '../cluster/access.ts';
import { ApiSource } from '../cluster/api-source.ts';
import { inClusterAccess } from '../cluster/kubeconfig/in-cluster.ts';
import { loadKubeconfig } from '../cluster/kubeconfig/load.ts';
import { ManifestsSource } from '../cluster/manifests-source.ts';
import type { ProblemListener, Source } from '../cluster/source.ts';
import { runProgramToEnd } from '../linux/run-program.ts';

/** Where a person wants the objects from. */
export interface SourceOptions {
  /** Manifests instead of a cluster. */
  readonly filename?: readonly string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Wins over the address in the kubeconfig. */
  readonly serverUrl?: string;
  /** Media types that the API server may answer in. */
  readonly accept?: string;
  /** Whether labels of namespaces matter. */
  readonly watchesNamespaces?: boolean;
  readonly watch?: true;
}

/** Manifests if there are any, else the cluster of the kubeconfig, else the one this runs in. */
export async function openSource(
  options: SourceOptions,
  nodeName: string | undefined,
): Promise<Source> {
  const onProblem: ProblemListener = (problem, kind) => {
    const effect = kind === 'namespace' ? '; labels of namespaces are not followed' : '';
    console.error(`warning: ${problem.message}${effect}`);
  };
  const node = nodeName === undefined ? {} : { nodeName };
  if (options.filename) {
    const isWatching = options.watch === true;
    return new ManifestsSource({ paths: options.filename, isWatching, ...node, onProblem });
  }
  const access = withServer(await accessOf(options), options.serverUrl);
  const accept = options.accept === undefined ? {} : { accept: options.accept };
  const connection = { access, userAgent: 'fairlead', ...accept };
  const { watchesNamespaces = false } = options;
  return new ApiSource({ connection, ...node, watchesNamespaces, onProblem });
}

function withServer(access: ClusterAccess, serverUrl: string | undefined): ClusterAccess {
  if (serverUrl === undefined) return access;
  const server = new URL(serverUrl);
  return {
    server,
    ...(access.proxyUrl === undefined ? {} : { proxyUrl: access.proxyUrl }),
    tls: () => access.tls(),
    token: () => access.token(),
    rejected: (token) => access.rejected(token),
  };
}

async function accessOf(options: SourceOptions): Promise<ClusterAccess> {
  const files = options.kubeconfig === undefined ? filesOfEnvironment() : [options.kubeconfig];
  if (files.length === 0) return inClusterAccess({ env: process.env });
  const context = options.context === undefined ? {} : { context: options.context };
  return await loadKubeconfig({ files, ...context, runPlugin: runProgramToEnd });
}

function filesOfEnvironment(): string[] {
  return (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
}
