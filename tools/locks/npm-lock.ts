/** What npm installs by a lock file, as far as this check reads it. */
export interface NpmLock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  /** Comes in the tarball of the package above it, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  /** npm writes a list, or the text that the package has. */
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockProblem {
  /** The entry, as the lock file calls it. */
  readonly entry: string;
  readonly problem: string;
  readonly remedy: string;
}

/**
 * No tarball has this hash, so npm never installs the package. It is for platforms whose packages are
 * not available here and on which Fairlead is not built: npm requires an entry for each of them, and
 * one without a hash would be installed unchecked.
 */
export const NEVER_INSTALLED = `sha512-${Buffer.alloc(64).toString('base64')}`;

const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;
/** What a registry answers to: a version, a range, a tag, or another name with one of these. */
const OF_REGISTRY = /^(?:npm:(?:@[^/@]+\/)?[^/@:]+@)?[\w.^~<>=|*\s-]+$/;
const BUILT_ON = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
] as const;

/** Whether everything is pinned by a hash and comes from a registry, without scripts that run. */
export function npmLockProblems(
  { packages }: NpmLock,
  allowScripts: Readonly<Record<string, boolean>>,
): LockProblem[] {
  const problems: LockProblem[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    const tell = (problem: string, remedy: string) =>
      problems.push({ entry: path === '' ? 'package.json' : path, problem, remedy });
    for (const [name, wanted] of wantedBy(entry)) {
      if (!OF_REGISTRY.test(wanted)) {
        tell(`wants ${name} from '${wanted}'`, 'use a version that a registry has');
      }
    }
    if (path === '' || entry.inBundle) continue;
    if (entry.link) tell('is a link to a folder', 'use a version that a registry has');
    else if (entry.resolved !== undefined) {
      tell(
        `names where it comes from: ${withoutHost(entry.resolved)}`,
        'remove `resolved`: the configured registry and the hash decide (.npmrc)',
      );
    }
    const problem = integrityProblem(entry);
    if (problem !== undefined) tell(problem, REMEDY_INTEGRITY);
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (entry.hasInstallScript && allowScripts[name] !== false) {
      tell('has an install script', `set allowScripts.${name} to false, or do without the package`);
    }
  }
  for (const [name, isAllowed] of Object.entries(allowScripts)) {
    if (!isAllowed) continue;
    problems.push({
      entry: 'package.json',
      problem: `allows the install script of ${name}`,
      remedy: 'what a script fetches has no hash in the lock: depend on it as a package instead',
    });
  }
  return problems;
}

const REMEDY_INTEGRITY =
  'remove node_modules and run npm install; if the registry does not have the package, see NEVER_INSTALLED in tools/locks/npm-lock.ts';

function integrityProblem(entry: LockEntry): string | undefined {
  const { integrity } = entry;
  if (integrity === undefined) return 'has no integrity';
  if (!INTEGRITY.test(integrity)) return 'has an integrity that is not one SHA-512';
  if (integrity !== NEVER_INSTALLED) return undefined;
  const isSpare = entry.dev === true && entry.optional === true && !isForUs(entry);
  return isSpare ? undefined : 'has the hash of nothing, and is needed where Fairlead is built';
}

function isForUs(entry: LockEntry): boolean {
  return BUILT_ON.some(
    ({ os, cpu, libc }) =>
      allows(entry.os, os) && allows(entry.cpu, cpu) && allows(entry.libc, libc),
  );
}

function allows(names: string | readonly string[] | undefined, name: string): boolean {
  return names === undefined || [names].flat().includes(name);
}

function wantedBy(entry: LockEntry): [string, string][] {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = entry;
  return [dependencies, devDependencies, optionalDependencies].flatMap((each) =>
    Object.entries(each),
  );
}

/** Without the host, which may be a private registry: errors end up in reports. */
function withoutHost(resolved: string): string {
  return resolved.replace(/^([\w+]+:\/\/)[^/]*/, '$1…');
}
