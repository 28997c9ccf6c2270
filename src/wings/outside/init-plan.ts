import type { ClusterAccess } from '../../cluster/access.ts';
import { CommandError } from '../../commands/command-error.ts';
import { ConfigError } from '../../config/config-error.ts';
import { buildConfig } from '../../config/load-config.ts';
import { traitsOf } from '../../config/modes.ts';
import type { ScopeSettings } from '../../config/settings.ts';
import { modeNamed } from '../../modes/mode-registry.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import { configText } from './config-text.ts';
import type { InitOptions } from './init-options.ts';
import { kubeconfigText } from './kubeconfig-text.ts';
import { type Manifest, rightsFor } from './machine-rights.ts';
import { CONFIG_FILE, KUBECONFIG_FILE, UNIT_FILE } from './paths.ts';
import { unitText } from './unit-text.ts';
import { PUBLIC_FILE_MODE, SECRET_FILE_MODE } from './write-files.ts';

/** Everything that `init` makes, as values. */
export interface Plan {
  readonly account: { readonly namespace: string; readonly name: string };
  /** As the machine reaches it. */
  readonly server: string;
  readonly scope: ScopeSettings | undefined;
  readonly podRanges: readonly string[];
  /** ClusterIPs outside of them are not served; empty: none is. */
  readonly serviceRanges: readonly string[];
  /** Whether the cluster has a DNS Service. */
  readonly hasNames: boolean;
  readonly manifests: readonly Manifest[];
  readonly files: readonly PlannedFile[];
}

export interface PlannedFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

export interface PlanInput {
  readonly options: InitOptions;
  readonly facts: ClusterFacts;
  /** Of the administrator. */
  readonly access: ClusterAccess;
  /** The command that starts Fairlead on the machine. */
  readonly program: readonly string[];
}

/** The same for the same input. Throws CommandError. */
export async function makePlan({ options, facts, access, program }: PlanInput): Promise<Plan> {
  const account = { namespace: options.serviceAccountNamespace, name: `fairlead-${options.name}` };
  const mode = await modeNamed(options.mode);
  const scope = scopeOf(options, facts);
  const podRanges = options.podCidr.length > 0 ? options.podCidr : facts.podRanges;
  // Read now, by the administrator: later ones are the word of those whom they limit.
  const serviceRanges = options.serviceCidr.length > 0 ? options.serviceCidr : facts.serviceRanges;
  const server = options.server ?? access.server.href.replace(/\/$/, '');
  const kubeconfig = kubeconfigText({
    server,
    ...(await trustOf(access, options)),
    account: account.name,
    program,
    renewedLifetimeSeconds: options.renewal ? options.tokenLifetime : undefined,
  });
  const config = configText({
    mode: options.mode,
    podRanges,
    zone: options.zone,
    scope,
    serviceRanges,
    clusterDns: facts.dns?.addresses ?? [],
    clusterDomain: options.clusterDomain === 'cluster.local' ? '' : options.clusterDomain,
  });
  assertValid(config);
  return {
    account,
    server,
    scope,
    podRanges,
    serviceRanges,
    hasNames: facts.dns !== undefined,
    manifests: rightsFor({
      ...account,
      scope,
      canRenew: options.renewal,
      readsNamespaces: traitsOf(options.mode).needs.namespaces,
    }),
    files: [
      { path: CONFIG_FILE, text: config, mode: PUBLIC_FILE_MODE },
      { path: KUBECONFIG_FILE, text: kubeconfig, mode: SECRET_FILE_MODE },
      {
        path: UNIT_FILE,
        text: unitText({ program, needs: mode.service }),
        mode: PUBLIC_FILE_MODE,
      },
    ],
  };
}

/** The options may ask for what an agent cannot do, such as a scope of too many namespaces. */
function assertValid(config: string): void {
  try {
    buildConfig(new Map(), { path: CONFIG_FILE, text: config });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map(({ subject, message }) => `${subject} ${message}`);
    throw new CommandError(`fairlead could not run with these options: ${problems.join('; ')}`, {
      code: 'OPTIONS_UNUSABLE',
      next: 'change the options; nothing was changed',
      cause: error,
    });
  }
}

/** With a scope, the DNS Service belongs to it: names of Services in the scope shall work. */
function scopeOf(options: InitOptions, { dns }: ClusterFacts): ScopeSettings | undefined {
  const { namespaces, services, selector } = options;
  if (namespaces.length === 0 && services.length === 0 && selector === undefined) return undefined;
  const dnsService = dns === undefined ? [] : [`${dns.namespace}/${dns.name}`];
  return {
    namespaces,
    services: [...new Set([...services, ...dnsService])],
    ...(selector === undefined ? {} : { serviceSelector: selector }),
  };
}

interface Trust {
  readonly certificateAuthority: string | undefined;
  readonly serverName: string | undefined;
  readonly proxyUrl: string | undefined;
}

async function trustOf(access: ClusterAccess, { server }: InitOptions): Promise<Trust> {
  const tls = await access.tls();
  if (tls.isUnverified) throw unverified();
  // The proxy and the server name belong to the address in the administrator's kubeconfig.
  const isSame = server === undefined;
  const proxyUrl = isSame ? access.proxyUrl?.reveal() : undefined;
  return {
    certificateAuthority: tls.certificateAuthority,
    serverName: isSame ? tls.serverName : undefined,
    proxyUrl,
  };
}

function unverified(): CommandError {
  return new CommandError('the kubeconfig does not verify the API server, so no token is sent', {
    code: 'API_SERVER_UNVERIFIED',
    next: 'replace insecure-skip-tls-verify by certificate-authority in the kubeconfig of the administrator',
  });
}
