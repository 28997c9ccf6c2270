import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TouchedNode, touchAndSee } from './seen-touch.ts';

/** Wrong from a change until the first comparison, or never. */
class Node implements TouchedNode {
  readonly #isQuick: boolean;
  #isWrong = false;
  #drifts = 7;

  constructor({ isQuick }: { isQuick: boolean }) {
    this.#isQuick = isQuick;
  }

  beTouched(): void {
    this.#drifts++;
    this.#isWrong = !this.#isQuick;
  }

  async differences(): Promise<string[]> {
    const found = this.#isWrong ? ['missing hook'] : [];
    this.#isWrong = false;
    return found;
  }

  async becomesRight(): Promise<void> {
    assert.ok(!this.#isWrong);
  }

  async driftCount(): Promise<number> {
    return this.#drifts;
  }
}

describe('touchAndSee()', () => {
  it('reports the difference', async () => {
    const node = new Node({ isQuick: false });
    assert.equal((await touchAndSee(node, () => node.beTouched())).seen, 'missing hook');
  });

  it('accepts the drift count of the proxy for a repair before the first comparison', async () => {
    const node = new Node({ isQuick: true });
    const { seen } = await touchAndSee(node, () => node.beTouched());
    assert.match(seen, /repaired before/);
  });

  it('fails when the change had no effect, whatever earlier ones had', async () => {
    const node = new Node({ isQuick: false });
    await touchAndSee(node, () => node.beTouched());
    await assert.rejects(
      touchAndSee(node, () => undefined),
      /the touch did nothing/,
    );
  });
});
