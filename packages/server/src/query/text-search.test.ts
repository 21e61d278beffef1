import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStore, type Store } from '../store/connect.ts'
import { findByText } from './text-search.ts'

describe('sessions with a text', () => {
  let directory: string
  let store: Store
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'playhead-text-'))
    store = await connectStore({ path: directory, report: () => undefined })
    const steps = ['a', 'b', 'b', 'c'].map(
      (id, index) => `('p', '${id}', '${index}', 7, 'chat', '{"said":"refund ${id}${index}"}')`,
    )
    await store.client.command({
      query: `INSERT INTO steps (project, session_id, step_id, segment, name, attributes) VALUES ${steps.join(', ')}`,
    })
  })
  afterAll(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  test('are each found once', async () => {
    expect((await findByText(store, 'p', 'Refund'))?.toSorted()).toEqual(['a', 'b', 'c'])
    expect(await findByText(store, 'p', 'refund b2')).toEqual(['b'])
    expect(await findByText(store, 'p', 'parcel')).toEqual([])
    expect(await findByText(store, 'q', 'refund')).toEqual([])
  })

  test('are found by as many words as a search may have', async () => {
    const words = Array.from({ length: 130 }, (_, index) => index.toString(36).padStart(2, '0'))
    expect(await findByText(store, 'p', words.join(' '))).toEqual([])
    expect(await findByText(store, 'p', `b2 ${'refund '.repeat(50)}`)).toEqual(['b'])
  })

  test('are not listed if there are too many, also when asked again', async () => {
    expect(await findByText(store, 'p', 'chat', 2)).toBeUndefined()
    expect(await findByText(store, 'p', 'chat', 2)).toBeUndefined()
    expect(await findByText(store, 'p', 'chat refund', 3)).toHaveLength(3)
  })

  test('with words that many have in one batch are told without comparing all', async () => {
    await store.client.command({
      query: `INSERT INTO words (project, session_id, words) SELECT 'many', toString(number), ['late', 'parcel'] FROM numbers(5)`,
    })
    const asked: string[] = []
    const query: Store['client']['query'] = (statement) => {
      asked.push(statement.query)
      return store.client.query(statement)
    }
    const watched = { words: store.words, client: { query } as Store['client'] }

    const few = await findByText(watched, 'many', 'late parcel', 5)
    const askedForFew = asked.splice(0).length
    const many = await findByText(watched, 'many', 'late parcel', 4)

    expect([few?.length, askedForFew, many, asked.length]).toEqual([5, 2, undefined, 1])
  })
})
