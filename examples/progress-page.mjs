// A page that shows how far a job is, live: PORT=3000 node examples/progress-page.mjs
import { createServer } from 'node:http';
import { connect, task } from 'waybill';

const importRows = task('rows.import', {
  run: async ({ rows }, context) => {
    for (let row = 1; row <= rows; row += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      context.progress(row / rows, { row, rows });
    }
    return { imported: rows };
  },
});

const waybill = await connect('sqlite::memory:');
const worker = waybill.work([importRows]);

const PAGE = `<!doctype html><meta charset="utf-8"><title>Import</title>
<button>Import</button> <progress max="1" value="0"></progress> <output></output>
<script type="module">
  document.querySelector('button').onclick = async () => {
    const { id } = await (await fetch('/imports', { method: 'POST' })).json();
    const source = new EventSource('/imports/' + id);
    source.onmessage = ({ data }) => {
      const { type, data: told } = JSON.parse(data);
      if (type === 'job.progress') {
        document.querySelector('progress').value = told.progress;
        document.querySelector('output').value = told.data.row + ' of ' + told.data.rows;
      } else if (/completed|discarded|cancelled|expired/.test(type)) {
        source.close();
        document.querySelector('progress').value = 1;
        document.querySelector('output').value = type;
      }
    };
  };
</script>`;

/** The history of the job, then live; a browser that reconnects goes on where it was. */
async function stream(id, request, response) {
  const away = new AbortController();
  response.on('close', () => away.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const after = request.headers['last-event-id'];
  const reading = { filter: { jobIds: [id] }, signal: away.signal, ...(after && { after }) };
  for await (const { cursor, type, data } of waybill.events.follow(reading)) {
    response.write(`id: ${cursor}\ndata: ${JSON.stringify({ type, data })}\n\n`);
  }
}

const app = createServer(async (request, response) => {
  const [, resource, id] = request.url.split('/');
  if (request.method === 'POST') {
    const { id } = await waybill.enqueue(importRows, { rows: 400 });
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
  } else if (resource === 'imports') await stream(id, request, response);
  else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
});
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://127.0.0.1:${app.address().port}`);
});

process.once('SIGTERM', async () => {
  app.closeAllConnections();
  app.close();
  await worker.stop();
  await waybill.close();
});
