import { type GoBuildContext, provideProgram } from './go-build.ts';

/** The program that answers with upstream's own code what kube-proxy makes of a cluster. */
export async function provideOracle(context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name: 'oracle',
      module: 'kubernetes',
      importPath: './oracle',
      linkerFlags: '-s -w',
      sources: ['go.mod', 'oracle/main.go'],
    },
    context,
  );
}
