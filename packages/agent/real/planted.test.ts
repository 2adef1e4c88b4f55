import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Planted } from '../../waybill/src/testing/planted.ts';
import { calls, says } from '../src/testing/index.ts';
import { folder, model } from './testing/agent.ts';
import { crashing, failing, looking } from './testing/planted-tasks.ts';
import { type RealWorker, realWorker } from './testing/real-worker.ts';

const planted = new Planted();
const word = (): string => `pl4nted${randomBytes(9).toString('hex')}`;
/** Of `.env` files, which only their names tell. */
const FILES = { CRM_TOKEN: word(), MAIL_PASSWORD: word(), LEGACY_DSN: `mysql://ada:${word()}@db/crm` };

/** Everything in the environment of the worker that its agents need not know. */
const ENV = {
  ...{ AWS_ACCESS_KEY_ID: planted.awsKeyId, AWS_SECRET_ACCESS_KEY: planted.awsSecret, PGPASSWORD: planted.password },
  ...{ AWS_SESSION_TOKEN: planted.session, DATABASE_URL: planted.postgres, WAYBILL_KEY: planted.apiKey },
  ...{ GITHUB_TOKEN: planted.jwt, WEBHOOK_SECRET: planted.webhook, UPLOAD_URL: planted.presigned },
};

/** Names of what was planted and stands in the text. */
function found(text: string): string[] {
  const secrets = { ...FILES, LEGACY_DSN: FILES.LEGACY_DSN.split(/[:@]/)[2]! };
  const inFiles = Object.entries(secrets).filter(([, secret]) => text.includes(secret));
  return [...planted.foundIn(text), ...inFiles.map(([name]) => name)];
}

/** All files below a folder, as one text. */
const textIn = (path: string): string =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

/** What anybody may read of a job: its row, its events and its journal. */
async function told({ waybill }: RealWorker, id: string): Promise<string> {
  const { entries } = await waybill.jobs.journal(id, { limit: 1_000 });
  const printed = entries.map(({ output, data }) => (output ? Buffer.from(output).toString() : JSON.stringify(data)));
  const { events } = await waybill.events.read({ filter: { jobIds: [id] }, limit: 1_000 });
  return [JSON.stringify([await waybill.jobs.get(id), events]), ...printed].join('\n');
}

// fault: secrets in the environment of the worker, in .env files, in what tools print, in what the model says and in errors
test('no secret of the worker or of .env files is seen by an agent or told of it, wherever one looks', async () => {
  const cat = 'env > seen.txt; env; cat .env .env.local';
  const leak = `The token is ${FILES.CRM_TOKEN}, and the file says MAIL_PASSWORD=${FILES.MAIL_PASSWORD}`;
  const asked = await model((request) => {
    if (request.prompt.includes('an error')) return says(leak);
    return request.hasToolResult() ? says(leak).answers({ files: 1 }) : calls('Bash', { command: cat });
  });
  const path = await folder();
  const blobs = join(path, 'blobs');
  const place = { store: `sqlite:${join(path, 'jobs.db')}`, blobs: `file:${blobs}`, env: ENV };
  const parts = await realWorker(place, asked);
  const { waybill, cwd } = parts;
  await writeFile(join(cwd, '.env'), `CRM_TOKEN=${FILES.CRM_TOKEN}\nMAIL_PASSWORD="${FILES.MAIL_PASSWORD}"\n`);
  await writeFile(join(cwd, '.env.local'), `export LEGACY_DSN=${FILES.LEGACY_DSN}\n`);
  await parts.start();

  const good = await waybill.enqueue(looking, { what: 'files' });
  expect(await waybill.wait(good, { timeoutMs: 90_000 })).toMatchObject({ output: { files: 1 } });
  // The tool has really read the files, or nothing below would mean anything.
  expect(asked.requests.at(-1)!.toolResult('Bash')!.text).toContain(FILES.CRM_TOKEN);
  const seen = await readFile(join(cwd, 'seen.txt'), 'utf8');
  expect(seen).toContain('ANTHROPIC_API_KEY=');
  expect(found(seen)).toEqual([]);
  expect(Object.keys({ ...ENV, ...FILES }).filter((name) => new RegExp(`^${name}=`, 'm').test(seen))).toEqual([]);

  // Not in the input, which is the caller's own and stands in the row.
  await writeFile(join(cwd, 'error.txt'), planted.everything);
  const [bad, worse] = await Promise.all([failing, crashing].map((one) => waybill.enqueue(one, { what: 'an error' })));
  for (const job of [bad!, worse!])
    await expect(waybill.wait(job, { timeoutMs: 90_000 })).rejects.toThrow('connect ECONNREFUSED');

  const places = {
    good: await told(parts, good.id),
    bad: await told(parts, bad!.id),
    worse: await told(parts, worse!.id),
    log: parts.log(),
    artifacts: textIn(join(cwd, '.output')),
    files: textIn(blobs),
  };
  for (const [name, text] of Object.entries(places)) expect([name, found(text)]).toEqual([name, []]);
  // What was looked through is what there is: the tool's output, the failure, the transcript, the trace.
  expect(places.good).toContain('CRM_TOKEN=***');
  expect(places.bad).toContain('ECONNREFUSED');
  expect(places.worse).toMatch(/Error: connect ECONNREFUSED[\s\S]* at /);
  expect(places.log).toContain('planted.fail');
  expect(places.artifacts).toContain('"toolCalls"');
  expect(places.files).toContain('"tool_result"');
}, 180_000);
