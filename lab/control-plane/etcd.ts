import { join } from 'node:path';
import { type Daemon, startDaemon } from '../host/processes.ts';

export interface EtcdStart {
  readonly namespacePath: string;
  /** Path of the program. */
  readonly etcd: string;
  readonly dataFolder: string;
  readonly logFolder: string;
}

const QUOTA_BYTES = 8 * 1024 ** 3;
const MAX_REQUEST_BYTES = 32 * 1024 ** 2;

/** The lab's store. Nothing in a lab is worth an fsync. */
export function startEtcd(start: EtcdStart): Daemon {
  return startDaemon({
    name: 'etcd',
    namespacePath: start.namespacePath,
    logFile: join(start.logFolder, 'etcd.log'),
    argv: [
      start.etcd,
      `--data-dir=${start.dataFolder}`,
      '--unsafe-no-fsync',
      '--listen-client-urls=http://127.0.0.1:2379',
      '--advertise-client-urls=http://127.0.0.1:2379',
      '--listen-peer-urls=http://127.0.0.1:2380',
      `--quota-backend-bytes=${QUOTA_BYTES}`,
      '--max-txn-ops=10000',
      `--max-request-bytes=${MAX_REQUEST_BYTES}`,
    ],
  });
}
