import { type Command, Option } from 'commander';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { addKubeProxyFlags } from '../kube-proxy-flags.ts';

/** Options that select the node and the source. */
export interface BasisOptions {
  /** Manifests instead of a cluster. */
  readonly filename?: readonly string[];
  readonly node?: string;
  readonly context?: string;
  /** Folder of the status socket. */
  readonly runFolder: string;
}

/** Adds the options of every command that shows a node: by default the agent of this machine. */
export function addBasisOptions(command: Command): Command {
  command
    .addOption(manifestsOption('manifests: a file, a folder, or - for standard input; repeatable'))
    .option('--node <name>', 'the node to show; default: that of the agent or the configuration')
    .option('--context <name>', 'use this context of the kubeconfig instead of the current one')
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER);
  return addKubeProxyFlags(command);
}

/** One value for each `-f`: the next word is the argument of the command. */
export function manifestsOption(about: string): Option {
  return new Option('-f, --filename <path>', about).argParser(
    (path: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), path],
  );
}
