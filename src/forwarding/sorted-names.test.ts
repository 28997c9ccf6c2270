import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SortedNames } from './sorted-names.ts';

/** The names that there are, and how often all of them were read. */
class Scene {
  readonly names = new SortedNames();
  readonly there = new Set<string>();
  readCount = 0;

  add(...names: readonly string[]): void {
    for (const name of names) {
      this.there.add(name);
      this.names.add(name);
    }
  }

  delete(...names: readonly string[]): void {
    for (const name of names) {
      this.there.delete(name);
      this.names.delete(name);
    }
  }

  list(): readonly string[] {
    return this.names.list(() => {
      this.readCount += 1;
      return this.there;
    });
  }
}

describe('sorted names', () => {
  it('reads all once, and then follows what comes and goes', () => {
    const scene = new Scene();
    scene.add('m', 'c', 'x');
    const first = scene.list();
    assert.deepEqual(first, ['c', 'm', 'x']);
    assert.equal(scene.list(), first);
    scene.add('a', 'z', 'm');
    scene.delete('c', 'z', 'unknown');
    assert.deepEqual(scene.list(), ['a', 'm', 'x']);
    scene.delete('a');
    scene.add('a');
    assert.deepEqual(scene.list(), ['a', 'm', 'x']);
    assert.deepEqual(first, ['c', 'm', 'x']);
    assert.equal(scene.readCount, 1);
  });

  it('reads all again after very many came and went', () => {
    const scene = new Scene();
    scene.add('m');
    scene.list();
    const many = Array.from({ length: 3_000 }, (_, index) => `n${index}`);
    scene.add(...many);
    scene.delete(...many.slice(1));
    assert.deepEqual(scene.list(), ['m', 'n0']);
    assert.equal(scene.readCount, 2);
  });
});
