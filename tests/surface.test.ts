/** What a release promised stays: docs/versions.md. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCurrentSurface, SURFACE_FILE } from '../scripts/surface/current.ts'
import { compareSurfaces } from '../scripts/surface/list-surface.ts'

const recorded = readFileSync(SURFACE_FILE, 'utf8').trim().split('\n')

test('nothing that the last release promised is gone, and no request needs more', async () => {
  const { gone, needed } = compareSurfaces(recorded, await readCurrentSurface())
  assert.deepEqual({ gone, needed }, { gone: [], needed: [] })
})

test('while the changelog has nothing unreleased, all of this tree is promised', async () => {
  const changelog = readFileSync(join(import.meta.dirname, '..', 'CHANGELOG.md'), 'utf8')
  const [, unreleased = ''] = /^## Unreleased\n(.*?)^## /ms.exec(changelog) ?? []
  if (unreleased.trim() !== '') return
  const promised = new Set(recorded)
  const missing = (await readCurrentSurface()).filter((line) => !promised.has(line))
  assert.deepEqual(missing, [], '`npm run surface` records them')
})

test('has all that others stand on', () => {
  for (const line of [
    'POST /v1/chat/completions <- messages[].role',
    'needs POST /v1/chat/completions <- messages',
    'GET /v1/models -> data[].id',
    'GET /v1/usage query tag',
    'POST /admin/v1/session <- password',
    'catalog channels[].upstream',
    'catalog models[].prices[].when',
    'tributary key create --tags VALUE',
    'needs tributary credit --amount',
    'setting ADMIT_WAIT_SECONDS',
  ]) {
    assert.ok(recorded.includes(line), line)
  }
  assert.ok(recorded.some((line) => line.startsWith('metric tributary_settlements_total{')))
})

test('each way to break a promise is found, and no addition is', () => {
  const before = ['POST /a', 'POST /a <- x', 'POST /a <- x.y', 'needs POST /a <- x', 'catalog']
  const compare = (...now: string[]) => compareSurfaces(before, now)
  const NOTHING = { gone: [], needed: [] }
  assert.deepEqual(compare(...before), NOTHING)
  assert.deepEqual(compare(...before.filter((line) => line !== 'POST /a <- x.y')), {
    gone: ['POST /a <- x.y'],
    needed: [],
  })
  // A member that need not be sent any more.
  assert.deepEqual(compare('POST /a', 'POST /a <- x', 'POST /a <- x.y', 'catalog'), NOTHING)
  for (const need of ['POST /a <- z', 'POST /a <- x.z', 'POST /a query q', 'catalog more']) {
    const needed = [`needs ${need}`]
    assert.deepEqual(compare(...before, need, ...needed), { gone: [], needed }, need)
  }
  const whole = ['POST /b', 'POST /b <- x', 'needs POST /b <- x', 'needs POST /a <- new.part']
  assert.deepEqual(compare(...before, ...whole, 'POST /a <- new'), NOTHING)
})
