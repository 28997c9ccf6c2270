import assert from 'node:assert/strict';
import { it } from 'node:test';
import { askedMetrics } from './promql-names.ts';

it('finds metrics with and without selectors, and no functions, words, ranges or label values', () => {
  const expression = `histogram_quantile(0.99, sum by (le, verb) (rate(
    a_bucket{code=~"2..", x!="y{z}"}[$__rate_interval]))) > 1e3 or on (instance) (b_total offset 5m == bool 0)`;
  assert.deepEqual(askedMetrics(expression), [
    { name: 'a_bucket', labels: ['code', 'le', 'verb', 'x'] },
    { name: 'b_total', labels: ['le', 'verb'] },
  ]);
});

it('does not ask the agent for the labels of the target', () => {
  const expression = 'max by (job, instance) (a{instance=~"$instance", condition="up"}) / (b > 0)';
  assert.deepEqual(askedMetrics(expression), [
    { name: 'a', labels: ['condition'] },
    { name: 'b', labels: [] },
  ]);
});
