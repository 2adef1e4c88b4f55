import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { socketServer } from '../testing/socket-server.ts';

const PROTO = path.join(import.meta.dirname, '../../../protocol/proto');
const folder = mkdtempSync(path.join(tmpdir(), 'waybill-python-'));
const python = path.join(folder, 'venv/bin/python');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Why there is no Python with grpcio; undefined where there is one. */
function lackOfPython(): string | undefined {
  try {
    execFileSync('python3', ['-m', 'venv', path.join(folder, 'venv')], { stdio: 'pipe' });
    execFileSync(python, ['-m', 'pip', 'install', '-q', 'grpcio', 'grpcio-tools'], { stdio: 'pipe', timeout: 300_000 });
    const files = ['job', 'job_service', 'job_events_service', 'log_service'].map((name) => `waybill/v1/${name}.proto`);
    const out = [`--python_out=${folder}`, `--grpc_python_out=${folder}`];
    execFileSync(python, ['-m', 'grpc_tools.protoc', `-I${PROTO}`, ...out, ...files], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return (error as Error).message.slice(0, 300);
  }
}

const lack = lackOfPython();

const PROGRAM = `
import json, sys
import grpc
from google.protobuf.struct_pb2 import ListValue
from waybill.v1 import job_pb2, job_service_pb2 as s, job_service_pb2_grpc as sg
from waybill.v1 import job_events_service_pb2 as e, job_events_service_pb2_grpc as eg

channel = grpc.insecure_channel(sys.argv[1])
jobs, events = sg.JobServiceStub(channel), eg.JobEventsServiceStub(channel)

args = ListValue()
args.extend([1, "two"])
sent = s.EnqueueJobRequest(request_id="r1", queue="py", type="build.run", args=args)
first, again = jobs.EnqueueJob(sent), jobs.EnqueueJob(sent)
assert first.created and not again.created and first.job.job_id == again.job.job_id

given = list(jobs.DequeueJobs(s.DequeueJobsRequest(queue="py", max_jobs=1)))
assert len(given) == 1 and given[0].job.state == job_pb2.JOB_STATE_RUNNING, given
token = given[0].task_token

def batches():
    yield e.PublishEventsRequest(task_token=token, events=[
        e.JobEvent(sequence=1, process_started=e.ProcessStarted(pid=7)),
        e.JobEvent(sequence=2, output=e.Output(output=b"\\xff\\x00hi", stream=e.OUTPUT_STREAM_STDOUT)),
    ])
    yield e.PublishEventsRequest(task_token=token, events=[
        e.JobEvent(sequence=3, process_ended=e.ProcessEnded(pid=7, exit_code=0)),
    ])

heads = [answer.appended.head for answer in events.PublishEvents(batches())]
assert heads == [2, 3], heads
jobs.UpdateJobVisibility(s.UpdateJobVisibilityRequest(queue="py", task_token=token, visibility_timeout_seconds=60))
result = s.JobResult(job_id=first.job.job_id, success=True)
done = jobs.CompleteJob(s.CompleteJobRequest(task_token=token, result=result))
assert done.job.state == job_pb2.JOB_STATE_COMPLETED

said = [one.event for one in events.StreamEvents(e.StreamEventsRequest(job_id=first.job.job_id)) if one.HasField("event")]
try:
    jobs.CompleteJob(s.CompleteJobRequest(task_token="made-up", result=result))
    refused = None
except grpc.RpcError as error:
    refused = [error.code().name, dict(error.trailing_metadata()).get("waybill-code")]
print(json.dumps({"types": [one.type for one in said], "output": said[1].output.output.hex(), "refused": refused}))
`;

if (lack !== undefined && process.env['CI'] === 'true') throw new Error(`CI must have Python with pip: ${lack}`);

test.skipIf(lack !== undefined)(
  `a client of Python's grpcio drives a job to its end${lack ? ` (${lack})` : ''}`,
  async () => {
    const { grpcUrl } = await socketServer({ grpcPort: 0 });
    const file = path.join(folder, 'journey.py');
    writeFileSync(file, PROGRAM);
    const { stdout } = await promisify(execFile)(python, [file, grpcUrl!.replace('grpc://', '')], {
      env: { ...process.env, PYTHONPATH: folder },
    });
    expect(JSON.parse(stdout)).toEqual({
      types: ['process.started', 'output', 'process.ended'],
      output: 'ff006869',
      refused: ['INVALID_ARGUMENT', 'invalid_request'],
    });
  },
);

test.skipIf(lack !== undefined)(
  `the program of docs/rpc.md runs as it stands there${lack ? ` (${lack})` : ''}`,
  async () => {
    const { grpcUrl } = await socketServer({ grpcPort: 0 });
    const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/rpc.md'), 'utf8');
    const [[, program] = [], ...more] = [...page.matchAll(/```python\n([\s\S]*?)```/g)];
    expect([program, more]).toEqual([expect.any(String), []]);
    const file = path.join(folder, 'builds.py');
    writeFileSync(file, program!);
    const { stdout } = await promisify(execFile)(python, [file, PROTO, grpcUrl!.replace('grpc://', '')]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, 4)).toEqual([1, 2, 3, 4].map((head) => `stored up to ${head}`));
    expect(lines[4]).toMatch(/^[0-9a-f-]{36} completed$/);
    expect(lines.slice(5)).toEqual([
      ...["1 process.started b''", "2 output b'compiling\\n'", "3 output b'linking\\n'", "4 process.ended b''"],
    ]);
  },
);
