// A watch without handlers: no task, no worker and no server runs here. Checks look at the store, and what they find are
// events that any program can follow. The test kit owns the clock, so that nothing waits.
import { testWaybill } from 'waybill/testing';

const kit = await testWaybill({ tasks: [] });
const { waybill } = kit;
const MINUTE = 60_000;

const { job } = await waybill.jobs.enqueue({ type: 'page.fetch', args: ['https://example.com'] });
await kit.advance(6 * MINUTE);

// Looks now, and changes nothing.
const { status, findings } = await waybill.checks.run();
console.log(status, findings.map(({ check }) => check).join(' '));

// What a server does every 5 minutes: incidents are opened once, however often they are found, and closed in the end.
await waybill.checks.round();
await waybill.checks.round();
await waybill.jobs.cancel(job.id);
await waybill.checks.round();

const { events } = await waybill.events.read({ filter: { types: ['incident.opened', 'incident.closed'] } });
for (const { type, data } of events) console.log(type, data.severity, data.title);
await kit.close();
