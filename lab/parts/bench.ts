import { type GoBuildContext, provideProgram } from './go-build.ts';

/** Server, client and bare writer of the benchmark; see bench/main.go. */
export async function provideBench(context: GoBuildContext): Promise<string> {
  return await provideProgram(
    {
      name: 'bench',
      module: 'bench',
      importPath: '.',
      linkerFlags: '-s -w',
      sources: [
        'go.mod',
        'main.go',
        'serve.go',
        'ask.go',
        'workers.go',
        'cpu.go',
        'copy.go',
        'objects.go',
        'netlink.go',
        'watch.go',
        'stream.go',
        'flood.go',
        'load.go',
        'load_loop.go',
        'streams.go',
        'streams_serve.go',
        'streams_ask.go',
      ],
    },
    context,
  );
}
