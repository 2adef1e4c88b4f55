import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { METRICS } from './metrics-table.ts';

test('docs/telemetry.md lists every metric as the table has it', () => {
  const page = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8');
  const quoted = (text: string) => `\`${text}\``;
  const rows = METRICS.map(({ name, kind, unit, attributes, description }) => {
    const cells = [quoted(name), kind, quoted(unit), attributes.map(quoted).join(', '), description];
    return `| ${cells.join(' | ')} |`;
  });
  expect(page.split('\n').filter((line) => line.startsWith('| `waybill.'))).toEqual(rows);
});
