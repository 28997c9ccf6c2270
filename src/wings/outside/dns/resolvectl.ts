import { systemCode } from '../../../cluster/cluster-error.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { runProgramToEnd } from '../../../linux/run-program.ts';
import { DNS_LINK, type DnsPlan } from './dns-plan.ts';

const TIMEOUT_MS = 20_000;

/** One scope of systemd-resolved: a link, or the configuration of the machine. */
export interface Scope {
  /** Undefined: global. */
  readonly link: string | undefined;
  readonly servers: readonly string[];
}

/** Ties the domain, and no other name, to the link. */
export async function configureLink({ servers, domain }: DnsPlan): Promise<void> {
  await resolvectl(['dns', DNS_LINK, ...servers]);
  await resolvectl(['domain', DNS_LINK, `~${domain}`]);
  await resolvectl(['default-route', DNS_LINK, 'no']);
  // The cluster's DNS has neither; a setting of the whole machine would make it useless.
  for (const protocol of ['dnssec', 'dnsovertls', 'llmnr', 'mdns']) {
    await resolvectl([protocol, DNS_LINK, 'no']);
  }
}

/** The servers of each scope, as `resolvectl dns` prints them. */
export async function listScopes(): Promise<readonly Scope[]> {
  return parseScopes(await resolvectl(['dns']));
}

/** `Global: 10.0.0.1` or `Link 2 (eth0): 192.0.2.1 2001:db8::1`. */
export function parseScopes(text: string): readonly Scope[] {
  return text.split('\n').flatMap((line) => {
    const match = /^(?:Global|Link \d+ \((?<link>.+?)\)):(?<rest>.*)$/.exec(line.trim());
    if (match?.groups === undefined) return [];
    const servers = (match.groups['rest'] ?? '').split(' ').filter((word) => word !== '');
    return [{ link: match.groups['link'], servers }];
  });
}

async function resolvectl(args: readonly string[]): Promise<string> {
  const what = `resolvectl ${args.join(' ')}`;
  try {
    const call = { command: 'resolvectl', args, env: {}, timeoutMs: TIMEOUT_MS };
    const { exitCode, stdout } = await runProgramToEnd(call);
    if (exitCode === 0) return stdout;
    throw new CommandError(`${what} failed (${exitCode ?? 'killed'})`, {
      code: 'RESOLVECTL_FAILED',
      next: 'see its message above; `systemctl status systemd-resolved` says whether it runs',
    });
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new CommandError(`${what} cannot be started: ${code}`, {
      code: 'RESOLVECTL_FAILED',
      next: 'install systemd-resolved, or see `fairlead outside dns print` for other ways',
      cause: error,
    });
  }
}
