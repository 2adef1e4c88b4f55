import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../../../examples', import.meta.url));

/** What each example prints. */
const PRINTED: Record<string, string> = {
  'cron.mjs': '3 digests, the next at 2030-01-01T15:00:00.000Z',
  'graceful-shutdown.mjs': 'completed available available available',
  'health.mjs': [
    'critical live-workers queue-age',
    "incident.opened warning The next job of queue 'default' has waited for 6 minutes.",
    "incident.opened critical Queue 'default' has jobs, and no worker is live.",
    "incident.closed warning The next job of queue 'default' has waited for 6 minutes.",
    "incident.closed critical Queue 'default' has jobs, and no worker is live.",
  ].join('\n'),
  'unique-and-limited.mjs': 'the same job: true created: false\nat once, at most: 2',
  'web-app.mjs': "202 { state: 'completed', result: { pages: 3 } }",
  'what-a-run-says.mjs': '1 stdout compiling\n2 stderr one page has no title\n3 page.built index',
  'workflow.mjs': 'words 11',
};

/** One runs until it is ended: browser.slow.test.ts opens it. The other needs the Claude Agent SDK: packages/agent/real runs it. */
const TESTED_ELSEWHERE = ['progress-page.mjs', 'agent.mjs'];

test('every example is here', () => {
  expect(
    readdirSync(folder)
      .filter((file) => file.endsWith('.mjs') && !TESTED_ELSEWHERE.includes(file))
      .sort(),
  ).toEqual(Object.keys(PRINTED));
});

test.each(Object.entries(PRINTED))('%s', (file, printed) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, file)], {
    encoding: 'utf8',
    timeout: 25_000,
  });
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe(printed);
  expect(status).toBe(0);
});
