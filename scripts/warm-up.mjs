// scripts/warm-up.mjs URL [KEY]: lets some jobs run to their end on a server, in a queue that nobody else uses.
const [url, key] = process.argv.slice(2);
const ROUNDS = 20;

async function call(path, body) {
  const response = await fetch(`${url}/ojs/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/openjobspec+json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

for (let round = 0; round < ROUNDS; round++) {
  await call('/jobs', { type: 'warm.up', args: [], options: { queue: 'warm-up' } });
  const { jobs } = await call('/workers/fetch', { queues: ['warm-up'], worker_id: 'warm-up' });
  for (const { id } of jobs) await call('/workers/ack', { job_id: id });
}
