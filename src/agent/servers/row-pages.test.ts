import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ForwardingTable } from '../../forwarding/table.ts';
import { elsewhere, service, slice, view } from '../../forwarding/testing/example-objects.ts';
import { parseRowPath, type RowPage, RowPages, rowPath } from './row-pages.ts';
import { JoinedRows, type PagedRow, sizeOf } from './row-parts.ts';

const MOST_OF_A_PAGE = 2_000;

/** A Service between two small ones. */
function tableWith(ports: number, endpoints: number): ForwardingTable {
  const table = new ForwardingTable(view());
  for (const [name, portCount, count] of [
    ['a', 1, 1],
    ['huge', ports, endpoints],
    ['z', 1, 1],
  ] as const) {
    const names = Array.from({ length: portCount }, (_, i) => ({ name: `p${i}`, port: 1_000 + i }));
    const listed = names.map((port) => ({ ...port, protocol: 'TCP' as const }));
    const all = Array.from({ length: count }, (_, i) => elsewhere(`10.1.${i >> 8}.${i & 0xff}`));
    table.putService(
      service({
        name,
        clusterIPs: ['10.96.0.1'],
        ports: listed.map((port) => ({ ...port, nodePort: 0 })),
      }),
    );
    table.putSlice(slice(all, { name: `${name}-1`, service: name, ports: listed }));
  }
  return table;
}

/** Every page, as a client asks for them by path. */
function* read(pages: RowPages): Generator<RowPage> {
  let path: string | undefined = rowPath({ withCandidates: false });
  while (path !== undefined) {
    const request = parseRowPath(path);
    assert.ok(request, path);
    const page = pages.page(request);
    yield page;
    const { rest, lastService } = page;
    if (rest !== undefined) path = rowPath({ rest, withCandidates: false });
    else if (lastService === undefined) path = undefined;
    else path = rowPath({ afterService: lastService, withCandidates: false });
  }
}

describe('a page of rows', () => {
  for (const [what, ports, endpoints] of [
    ['one row of 9,001 endpoints', 1, 9_001],
    ['twenty rows of 900 endpoints', 20, 900],
  ] as const) {
    it(`holds a part of a Service that is too large for it: ${what}`, () => {
      const table = tableWith(ports, endpoints);
      const rows = new JoinedRows();
      let pageCount = 0;
      for (const page of read(new RowPages(() => table))) {
        const size = page.rows.reduce((sum, row) => sum + sizeOf(row), 0);
        assert.ok(size <= MOST_OF_A_PAGE, `${size} frontends and endpoints`);
        for (const row of page.rows) rows.add(JSON.parse(JSON.stringify(row)) as PagedRow);
        pageCount++;
      }
      assert.ok(pageCount > (ports * endpoints) / MOST_OF_A_PAGE, `${pageCount} pages`);
      assert.deepEqual(
        rows.all().map(({ forwarding }) => forwarding),
        table.rows(),
      );
    });
  }

  it('has the rest of a Service as it was in the first part', () => {
    const table = tableWith(1, 9_000);
    const [before] = table.ofService('ns/huge');
    const rows = new JoinedRows();
    for (const page of read(new RowPages(() => table))) {
      for (const row of page.rows) rows.add(row);
      table.putSlice(slice([], { name: 'huge-1', service: 'huge', ports: [] }));
    }
    const sizes = rows.all().map(({ forwarding }) => forwarding.clusterEndpoints.length);
    assert.deepEqual(sizes, [1, before?.clusterEndpoints.length, 1]);
  });

  it('says that a rest is lost when too many others were begun', () => {
    const pages = new RowPages(() => tableWith(1, 9_000));
    const first = pages.page({ ofService: 'ns/huge', withCandidates: false });
    for (let i = 0; i < 8; i++) pages.page({ ofService: 'ns/huge', withCandidates: false });
    const rest = first.rest ?? '';
    assert.deepEqual(pages.page({ rest, withCandidates: false }), { rows: [], isLost: true });
  });
});
