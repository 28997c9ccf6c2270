import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerTo, readQuestion, TYPE_A, TYPE_AAAA, writeResponse } from './dns-stub.ts';

const SERVICES = new Map([['shop/web', ['10.96.0.20', 'fd00:96::20']]]);
const CLUSTER = {
  domain: 'cluster.local',
  names: {
    service: (name: string) => SERVICES.get(name),
    hasNamespace: (namespace: string) => namespace === 'shop',
  },
};

function answer(name: string, type = TYPE_A): string {
  const { code, addresses } = answerTo({ name, type }, CLUSTER);
  return [code, ...addresses.map((bytes) => Buffer.from(bytes).toString('hex'))].join(' ');
}

function query(name: string, type: number): Buffer {
  const labels = name.split('.').map((label) => `${String.fromCharCode(label.length)}${label}`);
  const head = Buffer.from('123401000001000000000000', 'hex');
  return Buffer.concat([
    head,
    Buffer.from(`${labels.join('')}\0\0${String.fromCharCode(type)}\0\x01`),
  ]);
}

describe('the answer to a name', () => {
  it('is the address of the Service, of the family that is asked for', () => {
    assert.equal(answer('web.shop.svc.cluster.local'), 'NOERROR 0a600014');
    assert.equal(
      answer('web.shop.svc.cluster.local', TYPE_AAAA),
      'NOERROR fd000096000000000000000000000020',
    );
    assert.equal(answer('web.shop.svc.cluster.local', 33), 'NOERROR');
  });

  it('says that a name of the cluster does not exist, and exists where only others are below it', () => {
    for (const name of ['no.shop', 'web.no', 'a.web.shop', 'no']) {
      assert.equal(answer(`${name}.svc.cluster.local`), 'NXDOMAIN', name);
    }
    for (const name of ['shop.svc.', 'svc.', '']) {
      assert.equal(answer(`${name}cluster.local`), 'NOERROR', name);
    }
    assert.equal(answer('other.cluster.local'), 'NXDOMAIN');
  });

  it('refuses other names, but tells nobody the beginning of a name of the cluster', () => {
    assert.equal(answer('www.example.org'), 'REFUSED');
    assert.equal(answer('notcluster.local'), 'REFUSED');
    assert.equal(answer('web.shop.svc'), 'NXDOMAIN');
  });
});

describe('a message', () => {
  it('is answered with its question and the addresses', () => {
    const message = query('WEB.shop.svc.cluster.local', TYPE_A);
    const question = readQuestion(message);
    assert.ok(question);
    assert.equal(question.name, 'web.shop.svc.cluster.local');
    const response = writeResponse(message, question, answerTo(question, CLUSTER));
    const body = message.subarray(12).toString('hex');
    const record = 'c00c00010001000000050004' + '0a600014';
    assert.equal(response.toString('hex'), `123485000001000100000000${body}${record}`);
  });

  it('that is no query with one question is ignored, wherever it is cut', () => {
    const message = query('web.shop.svc.cluster.local', TYPE_A);
    for (let length = 0; length < message.length; length++) {
      assert.equal(readQuestion(message.subarray(0, length)), undefined);
    }
    const response = Buffer.from(message);
    response[2] = 0x81;
    assert.equal(readQuestion(response), undefined);
    const pointer = Buffer.from(message);
    pointer[12] = 0xc0;
    assert.equal(readQuestion(pointer), undefined);
  });
});
