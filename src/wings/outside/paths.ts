import { join } from 'node:path';

/** Files of a machine outside of the cluster; below `--root`, if that is given. */
export const CONFIG_FOLDER = '/etc/fairlead';
export const STATE_FOLDER = '/var/lib/fairlead';
export const CONFIG_FILE = `${CONFIG_FOLDER}/config.conf`;
export const KUBECONFIG_FILE = `${CONFIG_FOLDER}/kubeconfig`;
export const TOKEN_FILE = `${STATE_FOLDER}/token`;
export const RECORD_FILE = `${STATE_FOLDER}/outside.json`;
export const UNIT_FOLDER = '/etc/systemd/system';
export const UNIT_NAME = 'fairlead.service';
export const UNIT_FILE = `${UNIT_FOLDER}/${UNIT_NAME}`;

/** The root of this machine: `--root` is absent. */
export const THIS_MACHINE = '/';

/** Where a file of the machine is from here. */
export function below(root: string, path: string): string {
  return join(root, path);
}
