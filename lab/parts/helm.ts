import { type GoBuildContext, provideProgram } from './go-build.ts';

/** People install charts with both: Helm 4 is the newest, Helm 3 the most used. */
const HELMS = {
  4: { name: 'helm', module: 'helm', version: 'v4.3.1', moreValues: [] },
  3: {
    name: 'helm-3',
    module: 'helm-3',
    version: 'v3.22.0',
    // As its own Makefile has it: the cluster that `helm template`, which asks none, renders for.
    moreValues: ['pkg/chartutil', 'pkg/lint/rules'].flatMap((place) => [
      `${place}.k8sVersionMajor=1`,
      `${place}.k8sVersionMinor=37`,
    ]),
  },
} as const;

export type HelmMajor = keyof typeof HELMS;
export const HELM_MAJORS: readonly HelmMajor[] = [3, 4];
export const NEWEST_HELM: HelmMajor = 4;

/** Helm itself: it renders and installs the chart of deploy/chart. */
export async function provideHelm(
  context: GoBuildContext,
  major: HelmMajor = NEWEST_HELM,
): Promise<string> {
  const { name, module, version, moreValues } = HELMS[major];
  const source = `helm.sh/helm/v${major}`;
  const values = [`internal/version.version=${version}`, ...moreValues];
  return await provideProgram(
    {
      name,
      module,
      importPath: `${source}/cmd/helm`,
      linkerFlags: ['-s', '-w', ...values.map((value) => `-X ${source}/${value}`)].join(' '),
      sources: ['go.mod'],
    },
    context,
  );
}
