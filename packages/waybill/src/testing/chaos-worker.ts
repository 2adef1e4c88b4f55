import { openSync, writeSync } from 'node:fs';
import { engine, silentLogger } from '@waybill/core';
import { postgresStore } from '@waybill/sql/postgres';
import { connectionTo } from '../sdk/connect.ts';
import { type ChaosSettings, chaosTask, isRescue } from './chaos-task.ts';

/** A worker in a process of its own, to be killed. It notes its runs in a file, since that survives it. */
const { url, schema, notes, leaseMs } = JSON.parse(process.argv[2]!) as ChaosSettings;
const file = openSync(notes, 'a');

const chaos = chaosTask((kind, job) => {
  const { id, run } = job;
  // One write of a short line to a file that is only appended to is not mixed up with those of other processes.
  writeSync(file, `${JSON.stringify({ kind, id, run, at: Date.now() })}\n`);
  process.send?.(kind === 'start' && isRescue(job) ? 'rescue' : kind);
});

// Claims so much at a time, and bundles so little, that most runs are in bundles when something goes wrong.
const store = await postgresStore({ url, schema, bundleFrom: 4, logger: silentLogger });
const waybill = connectionTo(engine({ store, sweepEveryMs: 200, logger: silentLogger }), { logger: silentLogger });
const heartbeatMs = Math.floor(leaseMs / 3);
waybill.work([chaos], { concurrency: 8, prefetch: 32, leaseMs, heartbeatMs, stopOn: ['SIGTERM'] });
process.send?.('ready');
