import { join } from 'node:path';
import { run } from '../../../lab/host/run.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { type FairleadOptions, fairlead } from '../../../lab/proxies/fairlead.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Inside the project, where the one package that is not in the bundle is found. */
export const BUNDLE = join(ROOT, 'dist/takeover/fairlead.mjs');
/** As a node would run it: see docs/scale.md. */
const FLAGS = ['--max-semi-space-size=16'];

/** A proxy that has the rules of a node. */
export interface Owner {
  /** In words, for the table. */
  readonly title: string;
  readonly program: 'kube-proxy' | 'fairlead';
  readonly mode: 'nftables' | 'iptables' | 'ipvs';
  readonly backend: 'nft' | 'legacy';
  readonly variant: ProxyVariant;
  /** It removes what kube-proxy has left, whichever its mode was. */
  readonly takesOver?: true;
}

export const OWNERS = {
  'kube-proxy iptables-nft': upstream('upstream-iptables', 'iptables', 'nft'),
  'kube-proxy iptables-legacy': upstream('upstream-iptables-legacy', 'iptables', 'legacy'),
  'kube-proxy nftables': upstream('upstream-nftables', 'nftables', 'nft'),
  'Fairlead iptables-nft': bundled({ mode: 'iptables', iptables: 'xtables-nft-multi' }),
  'Fairlead iptables-legacy': bundled({ mode: 'iptables', iptables: 'xtables-legacy-multi' }),
  'Fairlead nftables': bundled({ mode: 'nftables' }),
  'kube-proxy ipvs': upstream('upstream-ipvs', 'ipvs', 'nft'),
  'Fairlead ipvs': takingOver(bundled({ mode: 'ipvs' })),
  'Fairlead nftables, taking over': takingOver(bundled({ mode: 'nftables' })),
} as const satisfies Readonly<Record<string, Omit<Owner, 'title'>>>;

export type OwnerName = keyof typeof OWNERS;

export function ownerOf(title: OwnerName): Owner {
  return { title, ...OWNERS[title] };
}

/** The program in the form in which it is shipped. */
export async function bundle(): Promise<void> {
  const tool = join(ROOT, 'tools/bundle.ts');
  await run([process.execPath, tool, 'src/main.ts', BUNDLE], { cwd: ROOT, deadlineMs: 180_000 });
}

function upstream(
  name: string,
  mode: Owner['mode'],
  backend: Owner['backend'],
): Omit<Owner, 'title'> {
  return { program: 'kube-proxy', mode, backend, variant: findProxy(name) };
}

/** As in place of kube-proxy's image: it removes what kube-proxy has left by itself. */
function takingOver(owner: Omit<Owner, 'title'>): Omit<Owner, 'title'> {
  const { variant } = owner;
  return {
    ...owner,
    variant: {
      ...variant,
      async prepare(place) {
        const command = await variant.prepare(place);
        return { ...command, argv: [...command.argv, '--take-over'] };
      },
    },
    takesOver: true,
  };
}

function bundled(
  of: Pick<FairleadOptions, 'iptables'> & { readonly mode: Owner['mode'] },
): Omit<Owner, 'title'> {
  const backend = of.iptables === 'xtables-legacy-multi' ? 'legacy' : 'nft';
  const name = `fairlead-${of.mode}-${backend}`;
  const variant = fairlead({
    ...of,
    name,
    description: 'Fairlead as it is shipped',
    program: [...FLAGS, BUNDLE],
  });
  return { program: 'fairlead', mode: of.mode, backend, variant };
}
