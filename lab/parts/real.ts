import { KUBERNETES_VERSION, kubernetesLinkerFlags } from './build.ts';
import { type GoBuildContext, type GoProgram, provideProgram } from './go-build.ts';

/** What a cluster with real nodes needs besides the control plane. */
export type RealPart =
  | 'kubelet'
  | 'kube-scheduler'
  | 'coredns'
  | 'pause'
  | 'regression-issue-74839';
export type RealParts = Readonly<Record<RealPart, string>>;

/** Upstream's own end-to-end tests, and the program that runs them side by side. */
export type TestPart = 'e2e.test' | 'ginkgo';
export type TestParts = Readonly<Record<TestPart, string>>;

export const COREDNS_VERSION = '1.15.0';

const STRIPPED = '-s -w';

export async function provideRealParts(context: GoBuildContext): Promise<RealParts> {
  return {
    kubelet: await provideProgram(kubernetes('kubelet', 'k8s.io/kubernetes/cmd/kubelet'), context),
    'kube-scheduler': await provideProgram(
      kubernetes('kube-scheduler', 'k8s.io/kubernetes/cmd/kube-scheduler'),
      context,
    ),
    coredns: await provideCoredns(context),
    pause: await provideProgram(own('pause'), context),
    // A server of upstream's tests that sends a packet outside of its connection's window.
    'regression-issue-74839': await provideProgram(
      kubernetes('regression-issue-74839', 'k8s.io/kubernetes/test/images/regression-issue-74839'),
      context,
    ),
  };
}

/** The cluster's DNS server alone, which the plain lab can run too. */
export async function provideCoredns(context: GoBuildContext): Promise<string> {
  return await provideProgram(own('coredns'), context);
}

export async function provideTestParts(context: GoBuildContext): Promise<TestParts> {
  const tests = { ...kubernetes('e2e.test', 'k8s.io/kubernetes/test/e2e'), isTest: true };
  const ginkgo = kubernetes('ginkgo', 'github.com/onsi/ginkgo/v2/ginkgo');
  return {
    ginkgo: await provideProgram({ ...ginkgo, linkerFlags: STRIPPED }, context),
    'e2e.test': await provideProgram(tests, context),
  };
}

function kubernetes(name: string, importPath: string): GoProgram {
  const linkerFlags = kubernetesLinkerFlags(KUBERNETES_VERSION);
  return { name, importPath, module: 'e2e', linkerFlags, sources: ['go.mod'] };
}

function own(name: string): GoProgram {
  const sources = ['go.mod', 'main.go'];
  return { name, importPath: '.', module: name, linkerFlags: STRIPPED, sources };
}
