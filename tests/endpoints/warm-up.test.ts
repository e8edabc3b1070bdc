/** What runs once before the first call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { warmUp } from '../../server/api/endpoints/service/warm-up.ts'
import type { Log } from '../../server/base/lib/log.ts'
import type { Services } from '../../server/work/pipeline/services.ts'

function stage(answers: { readonly sql: () => Promise<unknown[]> }) {
  const asked: string[] = []
  const reported: unknown[] = []
  let moves = 0
  const dispatcher = {
    async request({ origin, path }: { origin: string; path: string }) {
      asked.push(await (await fetch(origin + path)).text())
      return { body: { dump: async () => undefined } }
    },
  }
  const catalog = { snapshot: () => ({ models: new Map() }) }
  return {
    asked,
    reported,
    countMoves: () => moves,
    parts: {
      sql: answers.sql as unknown as Sql,
      services: { dispatcher, catalog } as unknown as Services,
      listener: (_request: unknown, response: { end(text: string): void }) => response.end('ok'),
      rehearseMoves: async () => {
        moves += 1
      },
      log: { info: ({ error }: { error: unknown }) => reported.push(error) } as unknown as Log,
    },
  }
}

test('the statements of a call run on two sessions, and the gateway asks itself once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, asked, reported, countMoves } = stage({ sql: async () => [] })
  await warmUp(parts)
  assert.deepEqual([countMoves(), asked, reported], [2, ['ok'], []])
})

test('what cannot be done is reported, and no start fails of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const refused = new Error('refused')
  const { parts, asked, reported } = stage({ sql: () => Promise.reject(refused) })
  await warmUp(parts)
  assert.deepEqual([asked, reported], [['ok'], [refused, refused]])
})

test('a database that does not answer delays the start for a moment, not for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, countMoves } = stage({ sql: () => new Promise(() => undefined) })
  const warm = warmUp(parts)
  t.mock.timers.tick(1_000)
  await warm
  assert.equal(countMoves(), 0)
})
