import { type ApiVersion, EARLIER_VERSION, isEarlier } from './api-version.ts';
import { kubernetesLinkerFlags, type Parts } from './build.ts';
import { type GoBuildContext, provideProgram } from './go-build.ts';

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

async function provideEarlier(name: ControlPlanePart, context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name,
      module: 'control-plane-1.36',
      importPath: `k8s.io/kubernetes/cmd/${name}`,
      linkerFlags: kubernetesLinkerFlags(EARLIER_VERSION),
      sources: ['go.mod'],
    },
    context,
  );
}
