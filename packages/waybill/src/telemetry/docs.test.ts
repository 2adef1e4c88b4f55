import { readFileSync } from 'node:fs';
import { METRICS } from '@waybill/telemetry';
import { expect, test } from 'vitest';
import { alertsIn, textOf } from '../testing/observability-files.ts';
import { SAMPLERS } from './settings.ts';

const page = readFileSync(new URL('../../../../docs/observability.md', import.meta.url), 'utf8');

test('docs/observability.md has the table of metrics as it is', () => {
  const rows = METRICS.map(({ name, kind, unit, attributes, description }) => {
    const labels = attributes.map((one) => `\`${one}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${unit} | ${labels} | ${description} |`;
  });
  const section = page.split('## Metrics\n', 2)[1]!.split('\n## ', 1)[0]!;
  expect(section.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});

test('docs/observability.md names every alert and every variable that is read', () => {
  expect(
    alertsIn(textOf('prometheus', 'waybill.rules.yml')).filter(({ name }) => !page.includes(`\`${name}\``)),
  ).toEqual([]);
  expect(SAMPLERS.filter((name) => !page.includes(name.replace('parentbased_', '')))).toEqual([]);
  const read = ['settings.ts', 'otlp-target.ts'].flatMap((file) => {
    const source = readFileSync(new URL(file, import.meta.url), 'utf8');
    const whole = [...source.matchAll(/'((?:OTEL|WAYBILL)_[A-Z_]+)'/g)].map(([, name]) => name!);
    return [...whole, ...[...source.matchAll(/named\('(\w+)'\)/g)].map(([, name]) => `OTEL_EXPORTER_OTLP_${name}`)];
  });
  expect(read.length).toBeGreaterThan(12);
  expect([...new Set(read)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
