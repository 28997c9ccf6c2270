import type { Progress } from '../host/progress.ts';
import { provideKernel } from '../kernel/build.ts';
import { provideRoot } from '../systemd/root.ts';
import { provideBench } from './bench.ts';
import { providePartsAndTools } from './build.ts';
import { provideCilium } from './cilium.ts';
import { provideEarlierControlPlane } from './control-plane.ts';
import { provideEarlier } from './earlier.ts';
import type { GoBuildContext } from './go-build.ts';
import { provideHelm } from './helm.ts';
import { provideOracle } from './oracle.ts';
import { provideCoredns, provideRealParts, provideTestParts } from './real.ts';

type Programs = Readonly<Record<string, string>>;

/** Programs that are built when something asks for them, by the name that `lab build --also` takes. */
const GROUPS = {
  oracle: async (context: GoBuildContext): Promise<Programs> => ({
    oracle: await provideOracle(context),
  }),
  bench: async (context: GoBuildContext): Promise<Programs> => ({
    bench: await provideBench(context),
  }),
  cilium: async (context: GoBuildContext): Promise<Programs> => ({
    'cilium-agent': await provideCilium('cilium-agent', context),
    'cilium-load-balancer': await provideCilium('cilium-load-balancer', context),
  }),
  'earlier-control-plane': async (context: GoBuildContext): Promise<Programs> =>
    prefixed(await provideEarlierControlPlane(context)),
  'earlier-kube-proxy': async (context: GoBuildContext): Promise<Programs> =>
    prefixed({ 'kube-proxy': await provideEarlier('kube-proxy', context) }),
  dns: async (context: GoBuildContext): Promise<Programs> => ({
    coredns: await provideCoredns(context),
  }),
  helm: async (context: GoBuildContext): Promise<Programs> => ({
    helm: await provideHelm(context),
  }),
  'helm-3': async (context: GoBuildContext): Promise<Programs> => ({
    'helm-3': await provideHelm(context, 3),
  }),
  systemd: async (context: GoBuildContext): Promise<Programs> => ({
    'Debian with systemd': await provideRoot(context),
  }),
  kernel: async (context: GoBuildContext): Promise<Programs> => ({
    'User-mode Linux': await provideKernel(context),
  }),
  real: async (context: GoBuildContext): Promise<Programs> => await provideRealParts(context),
  e2e: async (context: GoBuildContext): Promise<Programs> => await provideTestParts(context),
} as const;

/** They have the names of the newest ones. */
function prefixed(programs: Programs): Programs {
  return Object.fromEntries(
    Object.entries(programs).map(([name, path]) => [`earlier ${name}`, path]),
  );
}

export type PartGroup = keyof typeof GROUPS;
export const PART_GROUPS = Object.keys(GROUPS) as readonly PartGroup[];

/** The programs of the plain lab, and those of the groups. */
export async function provideGroups(
  groups: readonly PartGroup[],
  context: GoBuildContext,
): Promise<Programs> {
  const programs: Record<string, string> = {
    ...(await providePartsAndTools(context)),
  };
  for (const group of groups) Object.assign(programs, await GROUPS[group](context));
  return programs;
}

/** What `provideGroups` would have to build: one line for each program. Builds nothing. */
export async function missingOf(groups: readonly PartGroup[]): Promise<readonly string[]> {
  const missing: string[] = [];
  // Every build is a step of its progress, and nothing else is one.
  const progress: Progress = {
    step: async (title) => {
      missing.push(title);
      return undefined as never;
    },
  };
  await provideGroups(groups, { progress });
  return missing;
}
