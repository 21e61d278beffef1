import type { Rejection } from './rejection.ts'

/** What a request held: the items that can be stored and the ones that cannot. */
export type Batch<Item> = { items: Item[]; rejected: Rejection[] }
