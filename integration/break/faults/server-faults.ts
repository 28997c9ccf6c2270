import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../../lab/host/until.ts';
import { CHANGES, type Fault, felt, lasting } from './fault.ts';
import type { Scene } from './scene.ts';

const FROZEN_SECONDS = 60;
const STORE_GONE_SECONDS = 5;
const CERTIFICATE_DEADLINE_MS = 30_000;

/** What happens to the API server and to its store. */
export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'API server killed',
    done: 'kill -9; changes in the store; started again',
    way: 'straight',
    feltAs: 'CLUSTER_CONNECTION_LOST',
    async happen(scene) {
      await scene.apiServer.kill();
      await scene.changes.inStore(CHANGES);
      scene.apiServer.startAgain();
      await scene.apiServerReady();
    },
  },
  {
    name: 'etcd killed',
    done: `kill -9; started again after ${STORE_GONE_SECONDS} s; changes`,
    way: 'straight',
    async happen(scene) {
      await scene.etcd.kill();
      await lasting(STORE_GONE_SECONDS);
      scene.etcd.startAgain();
      await scene.apiServerReady();
      await scene.changes.throughApi(scene.api, CHANGES);
    },
  },
  {
    // The API server answers a watch from its memory, whatever the store has forgotten. Only one
    // that was started afterwards has to say that it does not know.
    name: 'resource version gone',
    done: 'API server killed; changes; etcd compacted to its last revision; started again',
    way: 'straight',
    feltAs: 'CLUSTER_GONE 410',
    async happen(scene) {
      await scene.apiServer.kill();
      await scene.changes.inStore(CHANGES);
      await scene.changes.compact();
      scene.apiServer.startAgain();
      await scene.apiServerReady();
    },
  },
  {
    name: 'API server frozen',
    done: `SIGSTOP for ${FROZEN_SECONDS} s; changes in the store; SIGCONT`,
    way: 'straight',
    feltAs: 'CLUSTER_CONNECTION_LOST',
    async happen(scene) {
      scene.apiServer.freeze();
      try {
        await scene.changes.inStore(CHANGES);
        await lasting(FROZEN_SECONDS);
      } finally {
        scene.apiServer.thaw();
      }
    },
  },
  {
    name: 'token revoked',
    done: 'another token in the API server, restarted; changes; then the new token in `tokenFile`',
    way: 'straight',
    feltAs: 'CLUSTER_ANSWER 401',
    async happen(scene, watcher) {
      const token = randomBytes(16).toString('hex');
      await scene.replaceToken(token);
      await restartApiServer(scene);
      await scene.changes.throughApi(scene.api, CHANGES);
      await felt(watcher, 'CLUSTER_ANSWER 401');
      await writeFile(scene.tokenFile, token);
    },
  },
  {
    name: 'certificate replaced',
    done: 'API server restarted with a new one; changes; then the new one in `certificate-authority`',
    way: 'straight',
    feltAs: 'CLUSTER_TLS',
    async happen(scene, watcher) {
      const { folder, certificateAuthorityFile } = scene.lab.credentials;
      await scene.apiServer.kill();
      for (const file of ['apiserver.crt', 'apiserver.key']) await rm(join(folder, file));
      scene.apiServer.startAgain();
      await until(() => existsSync(certificateAuthorityFile), {
        what: 'the new certificate',
        deadlineMs: CERTIFICATE_DEADLINE_MS,
      });
      await scene.reconnect();
      await scene.apiServerReady();
      await scene.changes.throughApi(scene.api, CHANGES);
      await felt(watcher, 'CLUSTER_TLS');
      await scene.trustServer();
    },
  },
];

async function restartApiServer(scene: Scene): Promise<void> {
  await scene.apiServer.kill();
  scene.apiServer.startAgain();
  await scene.apiServerReady();
}
