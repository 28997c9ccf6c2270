import { EARLIER_VERSION } from './api-version.ts';
import { kubernetesLinkerFlags } from './build.ts';
import { type GoBuildContext, provideProgram } from './go-build.ts';

/** Programs of the version before the reference, and the module that pins each. */
const MODULES = {
  'kube-apiserver': 'control-plane-1.36',
  'kube-controller-manager': 'control-plane-1.36',
  'kube-proxy': 'kube-proxy-1.36',
} as const;

/** Built when first asked for, not with the other parts: it takes minutes, and most runs do without. */
export async function provideEarlier(
  name: keyof typeof MODULES,
  context: GoBuildContext,
): Promise<string> {
  return await provideProgram(
    {
      name,
      module: MODULES[name],
      importPath: `k8s.io/kubernetes/cmd/${name}`,
      linkerFlags: kubernetesLinkerFlags(EARLIER_VERSION),
      sources: ['go.mod'],
    },
    context,
  );
}
