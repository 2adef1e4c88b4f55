import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/**
 * The connections of one exporter. The exporter waits for the end of an answer for as long as bytes come, and an open
 * socket keeps its process alive, so both are ended from here.
 */
export class CollectorConnections {
  readonly agent: HttpAgent;
  /** How long one export may take. */
  readonly mostMs: number;

  constructor({ url, timeoutMs }: { url: string; timeoutMs: number }) {
    this.agent = new (url.startsWith('https:') ? HttpsAgent : HttpAgent)({ keepAlive: true });
    // The exporter's own deadline comes first, and tells the reason.
    this.mostMs = timeoutMs + 500;
  }

  /** Ends what is under way, with an error for the exporter. The next export connects anew. */
  cut(): void {
    this.agent.destroy();
  }
}
