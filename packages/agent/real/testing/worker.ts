// A worker in a process of its own, which a test kills: node worker.ts OPTIONS, with the options of connect() and its address.
// Logs everything to stderr, and writes a line to stdout when it works.
import { lineLogger } from '@waybill/core';
import { connect } from 'waybill';
import { counting } from './counting-task.ts';
import { crashing, failing, looking } from './planted-tasks.ts';

const { store, leaseMs, ...options } = JSON.parse(process.argv[2]!);
const logger = lineLogger({ write: (text) => void process.stderr.write(text), now: Date.now, least: 'debug' });
const waybill = await connect(store, { ...options, logger, engine: { leaseMs, sweepEveryMs: 200 } });
waybill.work([counting, looking, failing, crashing], { leaseMs, heartbeatMs: Math.round(leaseMs / 3) });
process.stdout.write('working\n');
