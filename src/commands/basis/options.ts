import { type Command, Option } from 'commander';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { addKubeProxyFlags } from '../kube-proxy-flags.ts';

/** What a person may say about the node that a command is to answer for. */
export interface BasisOptions {
  /** Manifests instead of a cluster. */
  readonly filename?: readonly string[];
  readonly node?: string;
  readonly context?: string;
  /** Where the agent of this machine is asked. */
  readonly runFolder: string;
}

/** Options of every command that answers for a node: the agent of this machine, unless they say otherwise. */
export function addBasisOptions(command: Command): Command {
  command
    .addOption(manifestsOption('manifests: a file, a folder, or - for standard input; repeatable'))
    .option('--node <name>', 'the node to show; default: that of the agent or the configuration')
    .option('--context <name>', 'use this context of the kubeconfig instead of the current one')
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER);
  return addKubeProxyFlags(command);
}

/** One value for each `-f`: what follows it is the next argument of the command. */
export function manifestsOption(about: string): Option {
  return new Option('-f, --filename <path>', about).argParser(
    (path: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), path],
  );
}
