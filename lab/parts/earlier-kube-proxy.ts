import { EARLIER_VERSION } from './api-version.ts';
import { kubernetesLinkerFlags } from './build.ts';
import { type GoBuildContext, provideProgram } from './go-build.ts';

/** The kube-proxy before the reference. Built when a variant needs it, not with the other parts: it takes minutes, the first time. */
export async function provideEarlierKubeProxy(context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name: 'kube-proxy',
      module: 'kube-proxy-1.36',
      importPath: 'k8s.io/kubernetes/cmd/kube-proxy',
      linkerFlags: kubernetesLinkerFlags(EARLIER_VERSION),
      sources: ['go.mod'],
    },
    context,
  );
}
