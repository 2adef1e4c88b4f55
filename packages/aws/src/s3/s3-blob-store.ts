import { type BlobStore, checkNodeVersion } from '@waybill/core';
import { isSilence } from '../silence.ts';
import { triesIn } from '../timeouts.ts';
import { failure, isMissing } from './failures.ts';
import { openClient } from './open-client.ts';
import { loadPresigner } from './sdk.ts';
import type { S3Options } from './settings.ts';

/** The most that S3 lists or deletes in one request. */
const MOST_AT_ONCE = 1_000;

/** Keeps each blob as an object of a bucket, which must be there. */
export async function s3BlobStore(options: S3Options): Promise<BlobStore> {
  checkNodeVersion();
  const { bucket: Bucket, prefix: root = '' } = options;
  const { sdk, client, timeToPut, timeouts, close } = await openClient(options);
  const presigner = await loadPresigner();
  const at = (key: string) => ({ Bucket, Key: root + key });
  const told = async <T>(request: Promise<T>): Promise<T> => {
    try {
      return await request;
    } catch (error) {
      throw failure(Bucket, error, options.endpoint);
    }
  };

  const list: BlobStore['list'] = async (prefix, { after, limit }) => {
    const MaxKeys = Math.min(limit, MOST_AT_ONCE);
    const start = after === undefined ? {} : { StartAfter: root + after };
    const { Contents = [] } = await told(
      client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: root + prefix, MaxKeys, ...start })),
    );
    return Contents.map(({ Key = '', LastModified }) => ({
      key: Key.slice(root.length),
      putAt: LastModified?.getTime() ?? Number.POSITIVE_INFINITY,
    }));
  };

  return {
    put: async (key, data) => {
      const input = { ...at(key), Body: data, ContentType: 'application/json' };
      await told(client.send(new sdk.PutObjectCommand(input), timeToPut(data.byteLength)));
    },

    get: async (key) => {
      const lastBegin = performance.now() + timeouts.callMs - timeouts.requestMs;
      for (let left = triesIn(timeouts); ; left -= 1) {
        try {
          const { Body } = await client.send(new sdk.GetObjectCommand(at(key)));
          return (await Body?.transformToByteArray()) ?? new Uint8Array();
        } catch (error) {
          if (isMissing(error)) return null;
          // The SDK repeats a request until the headers of its answer have come, and no body that breaks off.
          const isOver = left <= 1 || performance.now() > lastBegin || !isSilence(error);
          if (isOver) throw failure(Bucket, error, options.endpoint);
        }
      }
    },

    deletePrefix: async (prefix) => {
      for (;;) {
        const found = await list(prefix, { limit: MOST_AT_ONCE });
        if (found.length === 0) return;
        const Objects = found.map(({ key }) => ({ Key: root + key }));
        const { Errors = [] } = await told(
          client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } })),
        );
        // Listed again they would be refused again, without end.
        if (Errors.length > 0) throw failure(Bucket, Errors[0], options.endpoint);
        if (found.length < MOST_AT_ONCE) return;
      }
    },

    list,

    ...(presigner && {
      presign: (key: string, forMs: number) => {
        const expiresIn = Math.ceil(forMs / 1_000);
        return told(presigner.getSignedUrl(client, new sdk.GetObjectCommand(at(key)), { expiresIn }));
      },
    }),

    close: async () => close(),
  };
}
