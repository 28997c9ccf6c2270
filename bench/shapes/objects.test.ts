import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replacementAddress, serviceObject, slicesOf } from './objects.ts';
import { SHAPES, type Shape } from './shapes.ts';

function shapeNamed(name: string): Shape {
  const found = SHAPES.find((shape) => shape.name === name);
  assert.ok(found);
  return found;
}

function addressesOf(shape: Shape): string[] {
  const services = Array.from({ length: shape.services }, (_, index) => index);
  return services.flatMap((index) =>
    slicesOf(shape, index).flatMap(({ endpoints }) =>
      endpoints.map((endpoint) => (endpoint as { addresses: string[] }).addresses[0] ?? ''),
    ),
  );
}

describe('the objects of a shape', () => {
  it('have as many endpoints as the shape says, each at an address of its own', () => {
    for (const shape of SHAPES) {
      const addresses = addressesOf(shape);
      assert.equal(addresses.length, shape.services * shape.endpointsPerService, shape.name);
      assert.equal(new Set(addresses).size, addresses.length, shape.name);
      assert.ok(!addresses.includes(replacementAddress(0)), shape.name);
    }
  });

  it('have 50 slices of 100 endpoints at 5,000', () => {
    const slices = slicesOf(shapeNamed('one-5000x10'), 0);
    assert.deepEqual(new Set(slices.map(({ endpoints }) => endpoints.length)), new Set([100]));
    assert.equal(slices.length, 50);
  });

  it('have source ranges of which no two are neighbours', () => {
    const { spec } = serviceObject(shapeNamed('12000-ranges'), 0) as {
      spec: { loadBalancerSourceRanges: string[] };
    };
    assert.equal(new Set(spec.loadBalancerSourceRanges).size, 12_000);
    const hosts = spec.loadBalancerSourceRanges.map((range) =>
      Number(/\.(\d+)\/32/.exec(range)?.[1]),
    );
    assert.ok(hosts.every((host) => host % 2 === 0));
  });
});
