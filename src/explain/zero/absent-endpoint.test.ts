import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyAbsent } from './absent-endpoint.ts';
import {
  container,
  pod,
  ROW,
  service,
  slice,
  surroundings,
} from './testing/example-surroundings.ts';

const ADDRESSES = ['10.1.0.2'];

function ofPod(there: ReturnType<typeof pod>, around = surroundings(), namespace = 'shop') {
  return whyAbsent({ addresses: ADDRESSES, pod: { namespace, there } }, ROW, around);
}

describe('why an endpoint is not in the slices of a port', () => {
  it('compares the labels of the pod with the selector', () => {
    const { text } = ofPod(pod({ labels: { app: 'wbe', run: 'x' } }));
    assert.equal(text, 'the selector is app=web, and it has app=wbe');
    assert.match(ofPod(pod({ labels: {} })).text, /, and it has no label app$/);
  });

  it('says that the pod is in another namespace', () => {
    assert.match(ofPod(pod(), surroundings(), 'other').text, /^it is in namespace other, and a S/);
  });

  it('says which ports the pod has if targetPort names none of them', () => {
    const ports = [{ name: 'web', protocol: 'TCP', port: 8080 }];
    const { cause, text } = ofPod(pod({ containers: [container({ ports })] }));
    assert.equal(cause, 'port not in slices');
    assert.match(text, /^targetPort http of port http is the name of none .*: it has web$/);
  });

  it('says why the pod is not ready', () => {
    assert.equal(ofPod(pod({ phase: 'Succeeded' })).text, 'it has ended');
  });

  it('names the port that its slice has, and not that no slice has it', () => {
    const ports = [{ name: 'web', protocol: 'TCP', port: 8080 }];
    const around = surroundings({ service: service({ selector: {} }), slices: [slice({ ports })] });
    const { text } = whyAbsent({ addresses: ADDRESSES }, ROW, around);
    assert.equal(
      text,
      'EndpointSlice web-x1 has it with port web/TCP, and the Service wants port http/TCP',
    );
  });

  it('names the Service that its slice is labelled for', () => {
    const around = surroundings({ slices: [slice({ service: 'cart' })] });
    const { text } = whyAbsent({ addresses: ADDRESSES }, ROW, around);
    assert.equal(text, 'EndpointSlice web-x1 has it, which is labelled for Service cart');
  });

  it('says no more than it knows where nothing can be read', () => {
    const unread = { unknown: 'forbidden' };
    const around = surroundings({ more: { service: unread, slices: unread } });
    const { text, notKnown } = whyAbsent({ addresses: ADDRESSES }, ROW, around);
    assert.equal(text, 'no EndpointSlice of port http of shop/web has it');
    assert.equal(notKnown, 'forbidden');
  });
});
