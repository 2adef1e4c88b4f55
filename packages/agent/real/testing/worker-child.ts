// A worker with an agent on a store, in a process of its own that a test kills.
import { connect } from 'waybill';
import { asking } from './asking-agent.ts';

const [store, blobs] = process.argv.slice(2);
const connection = await connect(store!, { blobs: blobs! });
connection.work([asking]);
