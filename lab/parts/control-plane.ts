import { type ApiVersion, isEarlier } from './api-version.ts';
import type { Parts } from './build.ts';
import { provideEarlier } from './earlier.ts';
import type { GoBuildContext } from './go-build.ts';

type ControlPlanePart = 'kube-apiserver' | 'kube-controller-manager';

/** The programs of a version: the newest, or earlier ones, which are built when first asked for. */
export async function provideControlPlane(
  version: ApiVersion,
  newest: Parts,
  context: GoBuildContext,
): Promise<Pick<Parts, ControlPlanePart>> {
  return isEarlier(version) ? await provideEarlierControlPlane(context) : newest;
}

export async function provideEarlierControlPlane(
  context: GoBuildContext,
): Promise<Pick<Parts, ControlPlanePart>> {
  return {
    'kube-apiserver': await provideEarlier('kube-apiserver', context),
    'kube-controller-manager': await provideEarlier('kube-controller-manager', context),
  };
}
