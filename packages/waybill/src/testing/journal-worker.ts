import { silentLogger } from '@waybill/core';
import { connect } from '../sdk/connect.ts';
import { type JournalWorkerSettings, sayingTask } from './journal-task.ts';

/** A worker with an outbox, over HTTP, in a process of its own, to be killed. */
const { url, outbox, leaseMs } = JSON.parse(process.argv[2]!) as JournalWorkerSettings;

const waybill = await connect(url, { logger: silentLogger });
const heartbeatMs = Math.floor(leaseMs / 3);
waybill.work([sayingTask()], { concurrency: 8, leaseMs, heartbeatMs, outbox, stopOn: ['SIGTERM'] });
process.send?.('ready');
