// A web application that answers at once and does the work later.
import { createServer } from 'node:http';
import { connect, task } from 'waybill';

const report = task('report.build', {
  retry: { max_attempts: 5 },
  run: async ({ month }) => ({ pages: month.length }),
});

const waybill = await connect('sqlite::memory:');
const worker = waybill.work([report]);

const app = createServer(async (request, response) => {
  if (request.method === 'POST') {
    const month = new URL(request.url, 'http://localhost').searchParams.get('month') ?? 'january';
    const { id } = await waybill.enqueue(report, { month });
    response.writeHead(202, { location: `/jobs/${id}` }).end();
    return;
  }
  const job = await waybill.jobs.get(request.url.split('/').at(-1));
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ state: job.state, result: job.result }));
});
await new Promise((resolve) => app.listen(0, '127.0.0.1', resolve));

// What a browser would do.
const address = `http://127.0.0.1:${app.address().port}`;
const accepted = await fetch(`${address}/reports?month=may`, { method: 'POST' });
const link = accepted.headers.get('location');
await waybill.wait(link.split('/').at(-1));
console.log(accepted.status, await (await fetch(address + link)).json());

app.close();
await worker.stop();
await waybill.close();
