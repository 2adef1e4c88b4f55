// A job every hour, shown without waiting for one: the test kit owns the clock.
import { task } from 'waybill';
import { testWaybill } from 'waybill/testing';

const digest = task('digest.send', { run: async () => 'sent' });

const kit = await testWaybill({ tasks: [digest], now: new Date(Date.UTC(2030, 0, 1, 11, 30)) });
await kit.waybill.crons.put({
  name: 'hourly-digest',
  expression: '0 * * * *',
  timezone: 'Europe/Berlin',
  job_template: { type: 'digest.send', args: [null] },
});

for (let hour = 0; hour < 3; hour += 1) {
  await kit.advance(3_600_000);
  await kit.drain();
}
const { runs, nextAt } = await kit.waybill.crons.get('hourly-digest');
console.log(runs, 'digests, the next at', new Date(nextAt).toISOString());
await kit.close();
