// node fill.ts FOLDER JOBS: puts jobs into the file, in a process of its own so that the worker's memory is the worker's.
import { JOB, withEngine } from './ours.ts';

const PER_CALL = 1_000;
const [folder = '', jobs = '0'] = process.argv.slice(2);

await withEngine(folder, async (waybill) => {
  for (let left = Number(jobs); left > 0; left -= PER_CALL) {
    await waybill.jobs.enqueueMany(Array(Math.min(PER_CALL, left)).fill(JOB));
  }
});
