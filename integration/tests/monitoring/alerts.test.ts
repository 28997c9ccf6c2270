import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { tryRun } from '../../../lab/host/run.ts';
import { deployedRules, RULES, text } from './deployed.ts';
import { runbookFaults } from './faults.ts';

const TESTS = join(import.meta.dirname, 'alerts.promtool.yaml');
const { exitCode } = await tryRun(['sh', '-c', 'command -v promtool']);
const skip = exitCode === 0 ? false : 'promtool is not installed: apt-get install prometheus';

interface TestFile {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts?: readonly object[];
    }[];
  }[];
}

describe('alerts', () => {
  it('are valid for Prometheus', { skip }, async () => {
    const { stdout, stderr, exitCode: code } = await tryRun(['promtool', 'check', 'rules', RULES]);
    assert.equal(code, 0, stdout + stderr);
  });

  it('fire for their fault, and are silent on healthy nodes', { skip }, async () => {
    const { stdout, stderr, exitCode: code } = await tryRun(['promtool', 'test', 'rules', TESTS]);
    assert.equal(code, 0, stdout + stderr);
  });

  it('are found wrong by these tests if an expression is', { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-rules-'));
    try {
      const wrong = readFileSync(RULES, 'utf8').replace('fairlead_failing_rows', 'fairlead_rows');
      writeFileSync(join(folder, 'rules.yaml'), wrong);
      const tests = readFileSync(TESTS, 'utf8').replace(
        /rule_files: .*/,
        'rule_files: [rules.yaml]',
      );
      writeFileSync(join(folder, 'tests.yaml'), tests);
      const ran = await tryRun(['promtool', 'test', 'rules', join(folder, 'tests.yaml')]);
      assert.notEqual(ran.exitCode, 0);
      assert.match(ran.stdout + ran.stderr, /FairleadChangesRejected/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('have each a moment at which they fire, and one at which they do not', () => {
    const { tests } = parse(readFileSync(TESTS, 'utf8')) as TestFile;
    const moments = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const { alert } of deployedRules()) {
      const own = moments.filter(({ alertname }) => alertname === alert);
      assert.ok(
        own.some(({ exp_alerts = [] }) => exp_alerts.length > 0),
        `${alert} never fires`,
      );
      assert.ok(
        own.some(({ exp_alerts = [] }) => exp_alerts.length === 0),
        `${alert}: no silence`,
      );
    }
  });

  it('have each a section in docs/runbooks.md, and every section has an alert', () => {
    const rules = deployedRules();
    const runbooks = text('docs/runbooks.md');
    assert.ok(rules.length >= 8);
    assert.deepEqual(runbookFaults(rules, runbooks), []);
    const planted = rules.map((rule, index) =>
      index === 0 ? { ...rule, alert: 'FairleadX' } : rule,
    );
    assert.deepEqual(runbookFaults(planted, runbooks), [
      'FairleadX has no runbook',
      'FairleadDown has a runbook and no alert',
      'FairleadX links to another runbook',
    ]);
  });

  it('are the same for Prometheus and for Prometheus Operator', () => {
    const operator = parse(text('deploy/monitoring/prometheus-rule.yaml'));
    assert.deepEqual(operator.spec, parse(text('deploy/monitoring/rules.yaml')));
  });
});
