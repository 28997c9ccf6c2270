import { join } from 'node:path';
import { run } from '../../lab/host/run.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { fairlead } from '../../lab/proxies/fairlead.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Inside the project, where the one package that is not in the bundle is found. */
const BUNDLE = join(ROOT, 'dist/iptables-speed/fairlead.mjs');
/** As a node would run it: see docs/scale.md. */
const FLAGS = ['--max-semi-space-size=4'];

/** Fairlead in the form in which it is shipped. */
export async function bundledFairlead(backend: 'nft' | 'legacy'): Promise<ProxyVariant> {
  await run([process.execPath, join(ROOT, 'tools/bundle.ts'), 'src/main.ts', BUNDLE], {
    cwd: ROOT,
  });
  return fairlead({
    name: `fairlead-iptables${backend === 'nft' ? '' : '-legacy'}`,
    description: 'Fairlead, iptables mode, bundled',
    mode: 'iptables',
    iptables: `xtables-${backend}-multi`,
    program: [...FLAGS, BUNDLE],
  });
}
