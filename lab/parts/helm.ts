import { type GoBuildContext, provideProgram } from './go-build.ts';

const VERSION = 'v4.3.1';

/** Helm itself: it renders and installs the chart of deploy/chart. */
export async function provideHelm(context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name: 'helm',
      module: 'helm',
      importPath: 'helm.sh/helm/v4/cmd/helm',
      linkerFlags: `-s -w -X helm.sh/helm/v4/internal/version.version=${VERSION}`,
      sources: ['go.mod'],
    },
    context,
  );
}
