import { basename } from 'node:path';
import { isFlagName } from '../config/flags/flag-table.ts';
import { CommandError, WRONG_USAGE_EXIT } from './command-error.ts';
import { normalizeArguments } from './kube-proxy-flags.ts';

/** Program path and arguments of the process. */
interface Invocation {
  readonly programPath: string | undefined;
  readonly args: readonly string[];
}

const KUBE_PROXY = 'kube-proxy';
/** Then leftovers of kube-proxy are removed. */
export const TAKE_OVER = '--take-over';

/**
 * Inserts the command. Called as `kube-proxy`, or with one of its flags first, it is `run`: so that
 * a DaemonSet of kube-proxy only needs another image.
 */
export function argumentsWithVerb({ programPath, args }: Invocation): string[] {
  const normalized = normalizeArguments(args);
  const isKubeProxy = programPath !== undefined && basename(programPath) === KUBE_PROXY;
  if (isKubeProxy) {
    assertNoVerb(normalized);
    return ['run', TAKE_OVER, ...normalized];
  }
  return isKubeProxyFlag(normalized[0]) ? ['run', ...normalized] : normalized;
}

/** kube-proxy has no subcommands. */
function assertNoVerb([first]: readonly string[]): void {
  if (first === undefined || first.startsWith('-') || first === '') return;
  throw new CommandError(
    `${KUBE_PROXY} accepts only flags, not the argument ${JSON.stringify(first)}`,
    {
      code: 'NO_VERBS',
      exitCode: WRONG_USAGE_EXIT,
      next: `use the program name fairlead for commands other than run: fairlead ${first}`,
    },
  );
}

/** `--version` works without a command. */
function isKubeProxyFlag(arg: string | undefined): boolean {
  if (arg === undefined) return false;
  if (/^-v\d*$/.test(arg)) return true;
  const name = /^--([^=]+)/.exec(arg)?.[1];
  return name !== undefined && name !== 'version' && isFlagName(name);
}
