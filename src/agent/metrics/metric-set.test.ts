import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricSet } from '../metrics.ts';

describe('the text of a set of metrics', () => {
  it('escapes help and label values', () => {
    const set = new MetricSet();
    const counter = set.counter({ name: 'c', help: 'a \\ and\na line', labels: ['a', 'b'] });
    counter.add(2, 'x"y', 'z\n\\');
    assert.equal(
      set.render(),
      '# HELP c a \\\\ and\\na line\n# TYPE c counter\nc{a="x\\"y",b="z\\n\\\\"} 2\n',
    );
  });

  it('has what never counted as 0, if it has no labels', () => {
    const set = new MetricSet();
    set.counter({ name: 'c', help: 'h' });
    set.counter({ name: 'l', help: 'h', labels: ['a'] });
    set.histogram({ name: 'h', help: 'h', buckets: [0.1] });
    const samples = set.render().match(/^[^#\n].*$/gm);
    assert.deepEqual(samples, [
      'c 0',
      'h_bucket{le="0.1"} 0',
      'h_bucket{le="+Inf"} 0',
      'h_sum 0',
      'h_count 0',
    ]);
  });

  it('adds up the buckets of a histogram, and counts a bound in its own', () => {
    const set = new MetricSet();
    const histogram = set.histogram({ name: 'h', help: 'h', labels: ['m'], buckets: [0.1, 1] });
    for (const value of [0.1, 0.5, 5]) histogram.observe(value, 'q');
    assert.equal(
      set.render(),
      [
        '# HELP h h',
        '# TYPE h histogram',
        'h_bucket{le="0.1",m="q"} 1',
        'h_bucket{le="1",m="q"} 2',
        'h_bucket{le="+Inf",m="q"} 3',
        'h_sum{m="q"} 5.6',
        'h_count{m="q"} 3',
        '',
      ].join('\n'),
    );
  });

  it('has numbers that are none as Prometheus reads them', () => {
    const set = new MetricSet();
    const gauge = set.gauge({ name: 'g', help: 'h', labels: ['a'] });
    for (const value of [Number.NaN, Infinity, -Infinity, 1e21]) gauge.set(value, String(value));
    assert.deepEqual(set.render().match(/ \S+$/gm)?.slice(2), [' NaN', ' +Inf', ' -Inf', ' 1e+21']);
  });

  it('separates metrics by an empty line, in the order of their definition', () => {
    const set = new MetricSet();
    set.gauge({ name: 'b', help: 'h' }).set(1);
    set.gauge({ name: 'a', help: 'h' }).set(2);
    const text = '# HELP b h\n# TYPE b gauge\nb 1\n\n# HELP a h\n# TYPE a gauge\na 2\n';
    assert.equal(set.render(), text);
  });
});

describe('a metric', () => {
  it('keeps values apart whose labels are the same text when joined', () => {
    const set = new MetricSet();
    const counter = set.counter({ name: 'c', help: 'h', labels: ['a', 'b'] });
    counter.add(1, 'x', 'yz');
    counter.add(2, 'xy', 'z');
    assert.match(set.render(), /c\{a="x",b="yz"\} 1\nc\{a="xy",b="z"\} 2\n/);
  });

  it('is replaced, and cleared', () => {
    const set = new MetricSet();
    const counter = set.counter({ name: 'c', help: 'h', labels: ['a'] });
    const plain = set.counter({ name: 'p', help: 'h' });
    counter.add(7, 'x');
    counter.replace(3, 'x');
    plain.add(4);
    assert.match(set.render(), /c\{a="x"\} 3\n/);
    counter.clear();
    plain.clear();
    assert.deepEqual(set.render().match(/^[^#\n].*$/gm), ['p 0']);
  });

  it('rejects a wrong number of labels, a negative count and a second definition', () => {
    const set = new MetricSet();
    const counter = set.counter({ name: 'c', help: 'h', labels: ['a'] });
    assert.throws(() => counter.add(1), RangeError);
    assert.throws(() => counter.add(1, 'x', 'y'), RangeError);
    assert.throws(() => counter.add(-1, 'x'), RangeError);
    assert.throws(() => set.gauge({ name: 'c', help: 'h' }), RangeError);
    const histogram = set.histogram({ name: 'h', help: 'h', buckets: [1] });
    assert.throws(() => histogram.observe(Number.NaN), RangeError);
  });
});
