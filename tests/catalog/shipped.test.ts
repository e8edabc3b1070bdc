/** The shipped catalog files: each applies unchanged and names the sources of its prices. */
import assert from 'node:assert/strict'
import fs, { globSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { readPrices } from '../../server/money/catalog/load/load-model.ts'
import { createCatalog } from '../../server/money/catalog/load/snapshot.ts'
import { priceCharge } from '../../server/money/catalog/price/price.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import { openDatabase, secrets, silent } from './support.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'catalog')
/** The catalog of the simulators has its own tests. */
const SIMULATORS = 'simulators.json'

const files = globSync(join(FOLDER, '*.json'))
  .filter((path) => basename(path) !== SIMULATORS)
  .sort()
  .map((path) => parseCatalogFile(basename(path), readFileSync(path, 'utf8'), {}))

/** Servers on one's own machine. */
const KEYLESS: ReadonlySet<string> = new Set(['ollama.json', 'sglang.json', 'vllm.json'])

function variableFor(name: string): string {
  if (name.endsWith('_URL')) return 'https://resource.test/v1'
  if (!name.endsWith('_SERVICE_ACCOUNT')) return 'sk-for-tests'
  const account = serviceAccountOf('')
  return JSON.stringify({ ...account, token_uri: 'https://oauth2.googleapis.com/token' })
}

/** All variables that the files refer to. */
const environment = Object.fromEntries(
  [...JSON.stringify(files).matchAll(/env:([A-Z0-9_]+)/g)].map(([, name = '']) => [
    name,
    variableFor(name),
  ]),
)

test('all files apply together without warnings, and every channel can be used', async (t) => {
  const sql = await openDatabase(t)
  const upstreams = Object.fromEntries(UPSTREAMS)
  const diff = await applyCatalog({ sql, files, upstreams, secrets, environment })
  assert.deepEqual(diff.warnings, [])
  const catalog = await createCatalog({ sql, upstreams, secrets, environment, log: silent })
  t.after(() => catalog.stop())
  const { channels, models } = catalog.snapshot()
  assert.equal(channels.size, files.flatMap(({ content }) => content.channels).length)
  for (const model of models.values()) {
    assert.ok(
      model.routes.some(({ channel }) => channels.has(channel)),
      `${model.id} has no usable route`,
    )
  }
})

type Listed = (typeof files)[number]['content']['models'][number]['prices']

/** Returns every combination of tier, speed and region that a price names. */
function waysOf(prices: Listed): Record<string, string>[] {
  const ways = prices.map(({ when = {} }) => {
    const named = ['service_tier', 'speed', 'region'].flatMap((name) => {
      const [value] = [when[name]].flat()
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    return 'model' in when ? {} : Object.fromEntries(named)
  })
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()]
}

/** Gemini's answers state the sound of videos apart; models that make pictures take none. */
function hearsVideos(name: string, prices: Listed): boolean {
  return name === 'google.json' && prices.every(({ unit }) => unit !== 'image_output_token')
}

for (const { name, content } of files) {
  test(`${name}: secrets come from the environment, and prices have a source`, () => {
    for (const { id, settings } of content.channels) {
      if (KEYLESS.has(name)) assert.match(String(settings.base_url), /^http:\/\/localhost:/, id)
      if (KEYLESS.has(name)) continue
      const secret = settings.api_key ?? settings.service_account
      assert.match(String(secret), /^env:[A-Z][A-Z0-9_]+$/, id)
    }
    for (const { id, details } of content.models) {
      assert.notEqual(details.price_source !== undefined, details.example === true, id)
      assert.ok(details.display_name && details.owned_by, id)
      if (details.example) continue
      assert.ok(details.price_date && details.valid_from, `${id} does not say when`)
      assert.ok(details.price_date >= '2026-06-01' && details.price_date <= '2026-11-26', id)
    }
  })

  test(`${name}: text models have limits for input and output`, () => {
    for (const { id, type, limits } of content.models) {
      if (type !== 'chat' && type !== 'embedding') continue
      assert.ok(limits.max_input_tokens, id)
      assert.ok(limits.max_output_tokens || type === 'embedding', id)
    }
  })

  test(`${name}: costs equal the vendor's list prices, in every dimension`, () => {
    for (const { id, prices, routes } of content.models) {
      const listed = prices.filter(({ unit }) => unit !== 'vendor_cost')
      for (const { costs } of routes) if (costs) assert.deepEqual(costs, listed, id)
    }
  })

  test(`${name}: every way of being served has a price for each token unit`, () => {
    for (const { id, type, prices: listed } of content.models) {
      if (type !== 'chat') continue
      const prices = readPrices(JSON.parse(JSON.stringify(listed)), type)
      const usage = {
        input_token: 1000,
        cached_input_token: 10,
        cache_write_token: 5,
        output_token: 9,
        ...(hearsVideos(name, listed) ? { audio_input_token: 7, cached_audio_input_token: 3 } : {}),
      }
      for (const facts of waysOf(listed)) {
        const { unpriced, totalNanos } = priceCharge(prices, usage, facts)
        assert.deepEqual([unpriced, totalNanos > 0n], [[], true], `${id} ${JSON.stringify(facts)}`)
      }
    }
  })
}

test('the vendors’ files are read one at a time, other work runs between them', async () => {
  const fresh = '../../server/money/catalog/apply/vendors.ts?fresh'
  const { listVendors }: typeof import('../../server/money/catalog/apply/vendors.ts') =
    await import(fresh)
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const vendors = await listVendors()
  isDone = true
  assert.equal(vendors.length, files.length)
  assert.ok(turns >= vendors.length, `${turns} turns of the event loop`)
})

test('vendors’ files that cannot be read are read again', async (t) => {
  const fresh = '../../server/money/catalog/apply/vendors.ts?again'
  const { listVendors }: typeof import('../../server/money/catalog/apply/vendors.ts') =
    await import(fresh)
  const { mock } = t.mock.method(fs, 'readFileSync', () => {
    throw new Error('EMFILE: too many open files')
  })
  syncBuiltinESMExports()
  try {
    await assert.rejects(listVendors(), /EMFILE/)
  } finally {
    mock.restore()
    syncBuiltinESMExports()
  }
  assert.equal((await listVendors()).length, files.length)
})
