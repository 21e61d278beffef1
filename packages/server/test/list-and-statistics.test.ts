import { beforeAll, describe, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { hex } from './otlp.ts'
import { DAY, describeWithEachEngine, HOUR, NOW, session } from './project-server.ts'

describeWithEachEngine(
  (api) => {
    test('lists a session by what it is now, not by what it was', async () => {
      await api.freshProject()
      const traceId = hex(16)
      const grown = { traceId, name: 'grown', startMs: NOW - 3 * DAY }
      await api.post(session(grown))
      await api.post(session({ name: 'other', startMs: NOW - 2 * DAY, tokens: [3_000, 100] }))
      expect(await api.names('sort=cost')).toEqual(['other', 'grown'])
      expect(await api.names('cost=<0.005')).toEqual(['grown'])

      await api.post(session({ ...grown, tokens: [100_000, 1_000] }))

      expect(await api.names('sort=cost')).toEqual(['grown', 'other'])
      expect(await api.names('sort=cost&order=asc')).toEqual(['other', 'grown'])
      expect(await api.names('cost=<0.005')).toEqual([])
      expect(await api.names('cost=>0.1')).toEqual(['grown'])
    })

    describe('the list', () => {
      beforeAll(async () => {
        await api.freshProject()
        await api.post(
          session({
            name: 'alpha',
            startMs: NOW - 1 * HOUR,
            tags: ['x', 'y'],
            model: 'gpt-4o',
            tool: 'search',
            user: 'ann',
            thread: 't1',
            prompt: 'I was charged twice',
          }),
          session({
            name: 'beta',
            startMs: NOW - 2 * DAY,
            tags: ['y'],
            model: 'claude-sonnet-4-5',
            tool: 'refund',
            error: 'customer_id cannot be null',
            durationMs: 5_000,
            tokens: [9_000, 900],
          }),
          session({
            name: 'gamma',
            startMs: NOW - 40 * DAY,
            model: 'my-own-model',
            tool: 'search',
            prompt: 'Le café\nétait fermé',
            durationMs: 70_000,
          }),
          session({
            name: 'delta',
            startMs: NOW - 400 * DAY,
            tags: ['old'],
            user: 'bob',
            more: {
              'vcs.ref.head.name': 'main',
              'playhead.test.name': 'refunds work',
              'playhead.test.suite': 'billing',
              'playhead.test.run_id': 'r1',
            },
            prompt: JSON.stringify('caf\u00e9').replace('é', '\\u00e9'),
          }),
        )
      })

      test('is sorted newest first over any time span', async () => {
        expect(await api.names('')).toEqual(['alpha', 'beta', 'gamma', 'delta'])
      })

      test.each([
        ['status=fail', ['beta']],
        ['status=success', ['alpha', 'gamma', 'delta']],
        ['status=fail&status=success&limit=2', ['alpha', 'beta']],
        ['tag=y', ['alpha', 'beta']],
        ['tag=x&tag=y', ['alpha']],
        ['model=claude-sonnet-4-5', ['beta']],
        ['tool=search', ['alpha', 'gamma']],
        ['agent=gamma', ['gamma']],
        ['name=ALPH', ['alpha']],
        ['user=bob', ['delta']],
        ['thread=t1', ['alpha']],
        ['branch=main', ['delta']],
        ['test=refunds work', ['delta']],
        ['test=billing > refunds work', ['delta']],
        ['runId=r1', ['delta']],
        ['error=ValueError', ['beta']],
        ['cost=>0.01', ['beta']],
        ['cost=<=0.01', ['alpha', 'delta']],
        ['duration=>2s', ['beta', 'gamma']],
        ['duration=2s..10s', ['beta']],
        ['from=24h', ['alpha']],
        ['from=60d&to=1d', ['beta', 'gamma']],
        ['demo=true', []],
        ['text=charged', ['alpha']],
        ['text=twice CHARGED', ['alpha']],
        ['text=world', ['beta']],
        ['text=café', ['gamma', 'delta']],
        ['text=était', ['gamma']],
        ['text=nowhere', []],
        ['text="id"', ['alpha', 'beta', 'gamma', 'delta']],
      ])('%s', async (query, expected) => {
        expect(
          await api.names(
            query.replaceAll('+', '%2B').replaceAll('>', '%3E').replaceAll('<', '%3C').replaceAll(' ', '%20'),
          ),
        ).toEqual(expected)
      })

      test.each([
        ['sort=cost', ['beta', 'delta', 'alpha', 'gamma']],
        ['sort=duration', ['gamma', 'beta', 'delta', 'alpha']],
        ['sort=tokens&order=desc&limit=1', ['beta']],
        ['sort=time&order=asc', ['delta', 'gamma', 'beta', 'alpha']],
      ])('%s', async (query, expected) => {
        const found = await api.names(query)
        expect(found[0]).toBe(expected[0])
        expect(found.toSorted()).toEqual(expected.toSorted())
      })

      test('pages by cursor, each session once', async () => {
        const seen: string[] = []
        let cursor = ''
        do {
          const response = await api.server.request(`/api/sessions?project=${api.project}&limit=1${cursor}`)
          const page = (await response.json()) as { sessions: SessionSummary[]; nextCursor?: string }
          seen.push(...page.sessions.map(({ name }) => name))
          cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
        } while (cursor !== '')

        expect(seen).toEqual(['alpha', 'beta', 'gamma', 'delta'])
      })

      test('time bounds beyond all sessions match all of them, or none', async () => {
        const all = (await api.server.sessions(`project=${api.project}&limit=1000`)).length
        for (const [query, count] of [
          ['from=0001-01-01T00:00:00Z', all],
          ['from=99999999999d', all],
          ['to=9999-12-31T23:59:59Z', all],
          ['from=9999-12-31T23:59:59Z', 0],
          ['to=0001-01-01T00:00:00Z', 0],
        ] as const) {
          expect([
            query,
            (await api.server.sessions(`project=${api.project}&limit=1000&${query}`)).length,
          ]).toEqual([query, count])
          const stats = await api.server.request(`/api/stats?project=${api.project}&interval=auto&${query}`)
          expect([query, ((await stats.json()) as { total: number }).total]).toEqual([query, count])
        }
      })

      test('names the parameters that it cannot parse', async () => {
        for (const query of [
          'cost=cheap',
          'duration=long',
          'from=yesterday',
          'status=broken',
          'limit=0',
          'cursor=xyz',
        ]) {
          const response = await api.server.request(`/api/sessions?project=${api.project}&${query}`)
          const { error } = (await response.json()) as { error: { code: string; message: string } }
          expect({ query, status: response.status, code: error.code }).toEqual({
            query,
            status: 400,
            code: 'BAD_REQUEST',
          })
          expect(error.message).toContain(query.split('=')[0])
        }
      })

      test('suggests existing values', async () => {
        const response = await api.server.request(
          `/api/values?project=${api.project}&field=tool&contains=SEA`,
        )
        expect(await response.json()).toEqual({ values: [{ value: 'search', sessions: 2 }] })
      })

      test('the statistics agree with the list', async () => {
        expect(await api.stats('')).toMatchObject({
          total: 4,
          fail: 1,
          failureRate: 0.25,
          usage: { input: 9_300, output: 930 },
          buckets: [],
          groups: [],
        })
        expect(await api.stats('text=charged&interval=auto&groupBy=tool')).toMatchObject({
          total: 1,
          groups: [{ key: 'search', total: 1 }],
        })
        expect(await api.stats('text=nowhere&interval=auto')).toMatchObject({ total: 0 })
        expect((await api.stats('interval=day&from=60d')).buckets.map(({ total }) => total)).toEqual([
          1, 1, 1,
        ])
        expect((await api.stats('groupBy=tool')).groups).toMatchObject([
          { key: 'search', total: 2, calls: 2, failedCalls: 0, durationMs: { p50: 100 } },
          { key: 'lookup', total: 1, calls: 1 },
          { key: 'refund', total: 1, fail: 1, calls: 1, failedCalls: 1 },
        ])
        expect(
          (await api.stats('groupBy=model')).groups.find(({ key }) => key === 'my-own-model'),
        ).toMatchObject({
          cost: null,
          usage: { input: 100, output: 10 },
        })
        expect((await api.stats('groupBy=error')).groups).toMatchObject([
          { total: 1, example: { message: 'ValueError: customer_id cannot be null' } },
        ])
        expect((await api.stats('groupBy=tag')).groups.map(({ key, total }) => [key, total])).toEqual([
          ['y', 2],
          ['old', 1],
          ['x', 1],
        ])
        expect((await api.stats('groupBy=test')).groups.map(({ key }) => key)).toEqual([
          'billing > refunds work',
        ])
        expect(await api.stats('status=running')).toMatchObject({ total: 0, failureRate: null, cost: null })
      })
    })
  },
  ['the embedded engine', 'CLICKHOUSE_URL', 'CLICKHOUSE_CLUSTER'],
)
