import { BenchServer } from '../http/server.ts';
import { payload, QUEUE, TYPE } from '../queue.ts';
import { elapsed, type Task, type Workload } from '../result.ts';
import { inFlight } from './in-flight.ts';

const CONNECTIONS = 64;
const JOB = { type: TYPE, args: [payload()], options: { queue: QUEUE } };
const settings = `${CONNECTIONS} connections, server in a process of its own`;

async function enqueue(server: BenchServer, { scale }: Task) {
  try {
    const jobs = Math.round(30_000 * scale);
    let left = jobs;
    const begun = performance.now();
    await inFlight(CONNECTIONS, async () => {
      if (left-- <= 0) return false;
      await server.post('/ojs/v1/jobs', JOB);
      return true;
    });
    return { jobs, seconds: elapsed(begun), settings };
  } finally {
    await server.stop();
  }
}

interface Fetched {
  jobs: { id: string; lease_token: string }[];
}

/** One fetch and one ack per job: the dearest way to work. */
async function fetchAck(server: BenchServer, { scale }: Task) {
  try {
    const jobs = Math.round(10_000 * scale);
    let missing = jobs;
    await inFlight(CONNECTIONS, async () => {
      if (missing-- <= 0) return false;
      await server.post('/ojs/v1/jobs', JOB);
      return true;
    });
    let left = jobs;
    const begun = performance.now();
    await inFlight(CONNECTIONS, async () => {
      if (left-- <= 0) return false;
      const {
        jobs: [job],
      } = await server.post<Fetched>('/ojs/v1/workers/fetch', { queues: ['bench'], worker_id: 'bench' });
      await server.post('/ojs/v1/workers/ack', { job_id: job!.id, lease_token: job!.lease_token });
      return true;
    });
    return { jobs, seconds: elapsed(begun), settings: `${settings}, one job per fetch` };
  } finally {
    await server.stop();
  }
}

export const httpEnqueue: Workload = {
  systems: {
    waybill: async (task) => enqueue(await BenchServer.waybill(task.store), task),
    bare: async (task) => enqueue(await BenchServer.bare(), task),
  },
  yardstick: 'bare',
};

export const httpFetchAck: Workload = {
  systems: {
    waybill: async (task) => fetchAck(await BenchServer.waybill(task.store), task),
    bare: async (task) => fetchAck(await BenchServer.bare(), task),
  },
  yardstick: 'bare',
};
