import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsWithVerb } from './invocation.ts';

const KUBEADM = ['--config=/var/lib/kube-proxy/config.conf', '--hostname-override=node1'];
const FAIRLEAD = '/usr/local/bin/fairlead';
const KUBE_PROXY = '/usr/local/bin/kube-proxy';
const RUN = ['run', '--take-over'];

describe('the arguments', () => {
  it('are those of "run" when the program is called kube-proxy', () => {
    const verb = (args: string[]) => argumentsWithVerb({ programPath: KUBE_PROXY, args });
    assert.deepEqual(verb(KUBEADM), [...RUN, ...KUBEADM]);
    assert.deepEqual(verb([]), RUN);
    assert.deepEqual(verb(['--version']), [...RUN, '--version']);
    assert.deepEqual(verb(['--help']), [...RUN, '--help']);
    assert.deepEqual(verb(['-v=2', '--proxy_mode=x']), [...RUN, '-v2', '--proxy-mode=x']);
  });

  it('are those of "run" when they begin with a flag of kube-proxy', () => {
    const verb = (args: string[]) => argumentsWithVerb({ programPath: FAIRLEAD, args });
    assert.deepEqual(verb(KUBEADM), ['run', ...KUBEADM]);
    assert.deepEqual(verb(['-v=2']), ['run', '-v2']);
    assert.deepEqual(verb(['-v', '2']), ['run', '-v', '2']);
    assert.deepEqual(verb(['--v', '2']), ['run', '--v', '2']);
    assert.deepEqual(verb(['--cleanup']), ['run', '--cleanup']);
    assert.deepEqual(verb(['--write_config_to', 'x']), ['run', '--write-config-to', 'x']);
  });

  it('stay as they are otherwise', () => {
    for (const args of [
      [],
      ['status', '-v'],
      ['--help'],
      ['-h'],
      ['--version'],
      ['-V'],
      ['--no'],
    ]) {
      assert.deepEqual(argumentsWithVerb({ programPath: FAIRLEAD, args }), args);
    }
  });

  it('have no verb when the program is called kube-proxy', () => {
    assert.throws(() => argumentsWithVerb({ programPath: KUBE_PROXY, args: ['status'] }), {
      code: 'NO_VERBS',
      exitCode: 2,
      next: 'use the program name fairlead for commands other than run: fairlead status',
    });
  });
});
