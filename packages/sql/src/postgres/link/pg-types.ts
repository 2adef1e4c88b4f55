// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as Pg from 'pg';

export type Client = Pg.Client;
export type CustomTypesConfig = Pg.CustomTypesConfig;
export type Notification = Pg.Notification;
export type Pool = Pg.Pool;
export type PoolClient = Pg.PoolClient;
export type PoolConfig = Pg.PoolConfig;
export type QueryArrayConfig = Pg.QueryArrayConfig;
