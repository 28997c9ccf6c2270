import { resolve } from 'node:path';
import type { Clock } from '../../time/clock.ts';
import { ClusterError, systemCode } from '../cluster-error.ts';
import { arrayAt, isRecord, recordAt, textAt } from '../json.ts';
import type { Secret } from '../secret.ts';
import {
  assertKnownVersion,
  type ClusterInfo,
  type ExecCredential,
  execInfo,
  type PluginCall,
  type PluginResult,
  type RunPlugin,
  readExecCredential,
} from './exec-credential.ts';
import type { Entry } from './kubeconfig-file.ts';

export interface ExecPluginOptions {
  /** The user entry that has an `exec`. */
  readonly user: Entry;
  readonly cluster: ClusterInfo;
  readonly runPlugin: RunPlugin;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
}

const TIMEOUT_MS = 60_000;
/**
 * After a run that was of no use. A revoked account is rejected for each of up to a hundred watches,
 * again and again, and each run is a process.
 */
const REST_MS = 10_000;

interface Held {
  readonly credential: ExecCredential;
  /** When it expires, on the monotonic clock. */
  readonly staleAtMs: number;
  /** When the run ended, on the monotonic clock. */
  readonly endedAtMs: number;
  /** Fetched because the one before was rejected. */
  readonly isReplacement: boolean;
  isRejected: boolean;
}

/** A credential plugin: run on demand, once for concurrent requests. */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  #held: Held | undefined;
  /** The last run, if it failed. */
  #failed: { readonly error: ClusterError; readonly endedAtMs: number } | undefined;
  #running: Promise<Held> | undefined;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
  }

  async credential(): Promise<ExecCredential> {
    if (this.#held !== undefined && this.#isUsable(this.#held)) return this.#held.credential;
    if (this.#failed !== undefined && this.#isResting(this.#failed)) throw this.#failed.error;
    this.#running ??= this.#runAndRemember().finally(() => {
      this.#running = undefined;
    });
    return (await this.#running).credential;
  }

  /** Only the rejected token: another request may have fetched a newer one. */
  forget(token: Secret | undefined): void {
    const held = this.#held;
    if (held !== undefined && held.credential.token === token) held.isRejected = true;
  }

  /** Two were rejected in a row: another run would not give a better one yet. */
  #isUsable(held: Held): boolean {
    if (!this.#isFresh(held)) return false;
    return !held.isRejected || (held.isReplacement && this.#isResting(held));
  }

  #isResting({ endedAtMs }: { readonly endedAtMs: number }): boolean {
    return this.#options.clock.monotonicMs() - endedAtMs < REST_MS;
  }

  async #runAndRemember(): Promise<Held> {
    try {
      this.#held = await this.#run();
      this.#failed = undefined;
      return this.#held;
    } catch (error) {
      this.#held = undefined;
      if (error instanceof ClusterError) {
        this.#failed = { error, endedAtMs: this.#options.clock.monotonicMs() };
      }
      throw error;
    }
  }

  /**
   * Checks both clocks: the wall clock may have been wrong when it was fetched, or set back since.
   */
  #isFresh({ credential, staleAtMs }: Held): boolean {
    const { clock } = this.#options;
    return clock.wallMs() < credential.expiresAtMs && clock.monotonicMs() < staleAtMs;
  }

  async #run(): Promise<Held> {
    const exec = recordAt(this.#options.user.value, 'exec');
    const apiVersion = textAt(exec, 'apiVersion');
    assertKnownVersion(apiVersion);
    const call = this.#call(apiVersion);
    const result = await this.#start(call);
    if (result.exitCode !== 0) {
      throw this.#failure(
        call,
        result.exitCode === null ? 'killed by a signal' : `exited with status ${result.exitCode}`,
      );
    }
    const credential = readExecCredential(result.stdout, apiVersion);
    if (typeof credential === 'string') throw this.#failure(call, credential);
    const { clock } = this.#options;
    const leftMs = credential.expiresAtMs - clock.wallMs();
    const endedAtMs = clock.monotonicMs();
    const isReplacement = this.#held?.isRejected ?? false;
    const staleAtMs = endedAtMs + leftMs;
    return { credential, staleAtMs, endedAtMs, isReplacement, isRejected: false };
  }

  #call(apiVersion: string): PluginCall {
    const { user, cluster } = this.#options;
    const exec = recordAt(user.value, 'exec');
    const command = textAt(exec, 'command');
    const env: Record<string, string> = {};
    for (const variable of arrayAt(exec, 'env')) {
      if (isRecord(variable)) env[textAt(variable, 'name')] = textAt(variable, 'value');
    }
    const wantsCluster = exec['provideClusterInfo'] === true;
    env['KUBERNETES_EXEC_INFO'] = execInfo(apiVersion, wantsCluster ? cluster : undefined);
    return {
      // A bare name is searched in PATH; a relative path starts at the folder of the kubeconfig.
      command: command.includes('/') ? resolve(user.folder, command) : command,
      args: arrayAt(exec, 'args').filter((arg) => typeof arg === 'string'),
      env,
      timeoutMs: TIMEOUT_MS,
    };
  }

  async #start(call: PluginCall): Promise<PluginResult> {
    try {
      return await this.#options.runPlugin(call);
    } catch (error) {
      // Without the cause, which lists arguments and environment.
      throw this.#failure(call, `cannot be started (${systemCode(error) ?? 'unknown reason'})`);
    }
  }

  #failure(call: PluginCall, why: string): ClusterError {
    const hint = textAt(recordAt(this.#options.user.value, 'exec'), 'installHint');
    return new ClusterError('CREDENTIALS_PLUGIN', `credential plugin ${call.command}: ${why}`, {
      next: hint === '' ? 'run the plugin manually and check its output' : hint,
    });
  }
}
