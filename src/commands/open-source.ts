import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { AccessWarning, ClusterAccess } from '../cluster/access.ts';
import { ApiSource } from '../cluster/api-source.ts';
import { inClusterAccess } from '../cluster/kubeconfig/in-cluster.ts';
import { loadKubeconfig } from '../cluster/kubeconfig/load-kubeconfig.ts';
import { ManifestsSource } from '../cluster/manifests-source.ts';
import type { RequestListener } from '../cluster/request-seen.ts';
import { gapText, type ServerReport, serverText } from '../cluster/server-report.ts';
import type { ProblemListener, Source } from '../cluster/source.ts';
import type { Scope } from '../cluster/watch-scope.ts';
import { traitsOf } from '../config/modes.ts';
import type { Settings } from '../config/settings.ts';
import { runProgramToEnd } from '../linux/run-program.ts';
import { systemClock } from '../time/clock.ts';
import { type Digest, problemDigest } from './problem-digest.ts';
import { FailFastSource } from './services/fail-fast-source.ts';
import { printWarning } from './terminal/print.ts';

/** The source of objects by the options. */
export interface SourceOptions {
  /** Manifests instead of a cluster. */
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Overrides the address in the kubeconfig. */
  readonly serverUrl?: string | undefined;
  /** Media types for the Accept header. */
  readonly accept?: string | undefined;
  /** The Services to read; undefined: all. */
  readonly scope?: Scope | undefined;
  /** Whether labels of namespaces matter. */
  readonly watchesNamespaces?: boolean;
  /** Whether the Service ranges are not configured. Default: true. */
  readonly watchesServiceCidrs?: boolean;
  /** Whether slices keep the names of pods. */
  readonly keepsPodNames?: boolean;
  readonly watch?: true;
  /** Whether ~/.kube/config is searched: for commands, not for the agent. */
  readonly isAgent?: true;
  /** Default: standard error. */
  readonly onProblem?: ProblemListener;
  /** Failures of optional resources. */
  readonly onMissing?: ProblemListener;
  /** Called with what the API server lacks, and when that changes. */
  readonly onServer?: (report: ServerReport) => void;
  /** Called for each request to the API server. */
  readonly onRequest?: RequestListener;
}

/** The part of them that the configuration decides. */
export function configuredSource(settings: Settings): SourceOptions {
  const { kubeconfigPath, serverUrl, accept } = settings.api;
  return {
    kubeconfig: kubeconfigPath,
    serverUrl,
    // The encoding that has the names of pods.
    accept: settings.podNetwork === 'api-server' ? 'application/json' : accept,
    keepsPodNames: settings.podNetwork === 'api-server',
    scope: settings.scope,
    watchesNamespaces: traitsOf(settings.mode).needs.namespaces,
    watchesServiceCidrs: settings.serviceRanges.length === 0,
  };
}

export type AccessWarningListener = (warning: AccessWarning) => void;

/** Manifests if given, else the cluster of the kubeconfig, else the cluster of this pod. */
export async function openSource(
  options: SourceOptions,
  nodeName: string | undefined,
  onWarning: AccessWarningListener = (warning) => printWarning(accessWarningText(warning)),
): Promise<Source> {
  const onProblem = options.onProblem ?? problemWarnings();
  const node = nodeName === undefined ? {} : { nodeName };
  const scoped = options.scope === undefined ? {} : { scope: options.scope };
  if (options.filename) {
    const isWatching = options.watch === true;
    const paths = options.filename;
    return new ManifestsSource({ paths, isWatching, ...node, ...scoped, onProblem });
  }
  const access = withServer(await accessOf(options), options.serverUrl);
  for (const warning of await access.warnings(access.server)) onWarning(warning);
  const accept = options.accept === undefined ? {} : { accept: options.accept };
  const counted = options.onRequest === undefined ? {} : { onRequest: options.onRequest };
  const connection = { access, userAgent: 'fairlead', ...accept, ...counted };
  const { watchesNamespaces = false, watchesServiceCidrs = true, onMissing, onServer } = options;
  const open = (listener: ProblemListener) =>
    new ApiSource({
      connection,
      ...node,
      ...scoped,
      watchesNamespaces,
      watchesServiceCidrs,
      keepsPodNames: options.keepsPodNames ?? false,
      onProblem: listener,
      ...(onMissing === undefined ? {} : { onMissing }),
      ...(onServer === undefined ? {} : { onServer }),
    });
  const asksOnce = options.watch !== true && options.onProblem === undefined;
  return asksOnce ? new FailFastSource(open, onProblem) : open(onProblem);
}

/** Warns of each problem once a minute. */
export function problemWarnings(): ProblemListener {
  return problemDigest(systemClock, warn);
}

function warn({ problem, text }: Digest): void {
  printWarning(`${text}; ${problem.next} (${problem.code})`);
}

/** Warns about features that the API server lacks. */
export function warnOfGaps(server: ServerReport | undefined): void {
  const felt = server?.gaps.filter(({ isFelt }) => isFelt) ?? [];
  if (server === undefined || felt.length === 0) return;
  printWarning(`${serverText(server)}: ${felt.map(gapText).join('; ')}`);
}

/** Warnings about unsafe access settings. */
export async function accessWarnings(options: SourceOptions): Promise<readonly AccessWarning[]> {
  const access = withServer(await accessOf(options), options.serverUrl);
  return await access.warnings(access.server);
}

export function accessWarningText({ message, next, code }: AccessWarning): string {
  return `${message}; ${next} (${code})`;
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
    warnings: (at) => access.warnings(at),
  };
}

/** The access that the configuration of an agent names. */
export async function configuredAccess(settings: Settings): Promise<ClusterAccess> {
  const { kubeconfig, serverUrl } = configuredSource(settings);
  return withServer(await accessOf({ kubeconfig, isAgent: true }), serverUrl);
}

/** The cluster of the kubeconfig, else of this pod. */
export async function accessOf(
  options: Pick<SourceOptions, 'kubeconfig' | 'context' | 'isAgent'>,
): Promise<ClusterAccess> {
  const home = options.isAgent ? undefined : homedir();
  const files = options.kubeconfig
    ? [options.kubeconfig]
    : kubeconfigFiles({ env: process.env, home });
  if (files.length === 0) return inClusterAccess({ env: process.env });
  const context = options.context === undefined ? {} : { context: options.context };
  return await loadKubeconfig({ files, ...context, runPlugin: runProgramToEnd });
}

interface KubeconfigPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home of the user; undefined: not searched. */
  readonly home: string | undefined;
}

/**
 * The files that kubectl would merge by default: those of $KUBECONFIG, some of which may be
 * missing, else ~/.kube/config. In a pod the service account comes before ~/.kube/config, so that
 * commands in a pod use its own cluster. Empty: the service account.
 */
export function kubeconfigFiles({ env, home }: KubeconfigPlaces): readonly string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  const existing = named.filter((path) => existsSync(path));
  // If none exists, the first one is reported as missing.
  if (named.length > 0) return existing.length > 0 ? existing : named.slice(0, 1);
  const isInPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (home === undefined || isInPod) return [];
  const own = join(home, '.kube/config');
  return existsSync(own) ? [own] : [];
}
