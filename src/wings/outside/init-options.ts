import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseCidr } from '../../addresses/cidr.ts';
import { DEFAULT_MODE, MODE_NAMES, type ModeName } from '../../config/modes.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue } from '../../labels/api-names.ts';
import { parseSelector } from '../../labels/selector.ts';
import { parseSubject, type Subject } from './laptop-rights.ts';
import { THIS_MACHINE } from './paths.ts';
import { lifetimeSeconds } from './token.ts';

export interface InitOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly name: string;
  readonly serviceAccountNamespace: string;
  readonly server?: string;
  readonly namespaces: readonly string[];
  readonly services: readonly string[];
  readonly selector?: string;
  readonly zone?: string;
  readonly mode: ModeName;
  readonly podCidr: readonly string[];
  /** Empty: those of the ServiceCIDR objects. */
  readonly serviceCidr: readonly string[];
  readonly clusterDomain: string;
  /** Seconds. */
  readonly tokenLifetime: number;
  readonly renewal: boolean;
  readonly root: string;
  readonly program?: string;
  /** Only the rights of a person who uses `fairlead shell`. */
  readonly laptop?: Subject;
  readonly apply?: true;
  readonly force?: true;
}

const LONGEST_NAME = 54;

/** Adds the options of `init`. */
export function addInitOptions(command: Command): Command {
  return command
    .option('--apply', 'do it; without this option nothing is changed')
    .addOption(
      checked(
        '--laptop <who>',
        'print only the Roles with which user:NAME, group:NAME or serviceaccount:NS/NAME may use `fairlead shell`, in --namespaces or all',
        parseSubject,
      ).conflicts('apply'),
    )
    .option('--kubeconfig <path>', 'of an administrator; default: $KUBECONFIG, ~/.kube/config')
    .option('--context <name>', 'use this context of the kubeconfig instead of the current one')
    .addOption(
      checked('--server <url>', 'the API server as this machine reaches it', serverUrl).default(
        undefined,
        'as in the kubeconfig',
      ),
    )
    .addOption(
      checked(
        '--name <name>',
        'name of the machine; its objects are called fairlead-NAME',
        name,
      ).default(nameFrom(hostname())),
    )
    .addOption(
      checked('--service-account-namespace <name>', 'where its ServiceAccount is', label).default(
        'kube-system',
      ),
    )
    .addOption(
      checked(
        '--namespaces <names>',
        'serve only Services of these: a,b',
        list(isDnsLabel, 'the name of a namespace'),
      ).default([], 'all'),
    )
    .addOption(
      checked(
        '--services <names>',
        'serve only (or also) these: ns/name,ns/name',
        list(isService, 'namespace/name'),
      ).default([], 'all'),
    )
    .addOption(checked('--selector <labels>', 'serve only Services with these labels', selector))
    .addOption(checked('--zone <zone>', 'zone of the machine, for topology-aware routing', zone))
    .addOption(
      new Option('--mode <mode>', 'how packets are forwarded')
        .choices(MODE_NAMES)
        .default(DEFAULT_MODE),
    )
    .addOption(
      checked(
        '--pod-cidr <ranges>',
        'addresses of pods',
        list(isRange, 'a range such as 10.244.0.0/16'),
      ).default([], 'those of the Nodes'),
    )
    .addOption(
      checked(
        '--service-cidr <ranges>',
        'addresses that Services may have on this machine',
        list(isRange, 'a range such as 10.96.0.0/12'),
      ).default([], 'those of the ServiceCIDR objects now'),
    )
    .addOption(
      checked('--cluster-domain <domain>', "the cluster's DNS domain", domain).default(
        'cluster.local',
      ),
    )
    .addOption(
      checked(
        '--token-lifetime <duration>',
        'life of the token, such as 30d or 12h',
        lifetimeSeconds,
      ).default(lifetimeSeconds('30d'), '30d'),
    )
    .option('--no-renewal', 'the token ends after its life and is not renewed')
    .addOption(rootOption('write below this folder and start nothing'))
    .option('--program <path>', 'fairlead on the machine; default: this one')
    .option('--force', 'overwrite files that fairlead did not write');
}

/** Absolute: an empty text must not mean this machine. */
export function rootOption(about: string): Option {
  return checked('--root <folder>', about, (text) => resolve(text)).default(THIS_MACHINE);
}

function checked<T>(flags: string, about: string, parse: (text: string) => T): Option {
  return new Option(flags, about).argParser(parse);
}

/** A name for objects from the name of a host. */
export function nameFrom(host: string): string {
  const allowed = host
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, LONGEST_NAME);
  const parts = allowed.split('.').map((part) => part.replaceAll(/^-+|-+$/g, ''));
  return parts.filter((part) => part !== '').join('.') || 'machine';
}

function name(text: string): string {
  if (isDnsSubdomain(text) && text.length <= LONGEST_NAME) return text;
  throw new InvalidArgumentError(`Use at most ${LONGEST_NAME} of a-z, 0-9, - and dots.`);
}

function label(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError('Use the name of a namespace.');
}

function list(
  isGood: (text: string) => boolean,
  what: string,
): (text: string) => readonly string[] {
  return (text) => {
    const items = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const bad = items.find((item) => !isGood(item));
    if (bad === undefined && items.length > 0) return [...new Set(items)];
    throw new InvalidArgumentError(`'${bad ?? text}' is not ${what}.`);
  };
}

function isService(text: string): boolean {
  const parts = text.split('/');
  return parts.length === 2 && parts.every(isDnsLabel);
}

function isRange(text: string): boolean {
  return (parseCidr(text)?.prefixLength ?? 0) > 0;
}

function selector(text: string): string {
  const parsed = parseSelector(text);
  if ('selector' in parsed && parsed.selector.length > 0) return text;
  throw new InvalidArgumentError('Use labels as for kubectl -l, such as app=web.');
}

function zone(text: string): string {
  if (text !== '' && isLabelValue(text)) return text;
  throw new InvalidArgumentError('Use a value of the label topology.kubernetes.io/zone.');
}

function domain(text: string): string {
  if (isDnsSubdomain(text)) return text;
  throw new InvalidArgumentError('Use a domain such as cluster.local.');
}

function serverUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text.replace(/\/$/, '');
  throw new InvalidArgumentError('Use the form https://host:port.');
}
