/** The catalog files that come with the gateway: each applies as it is, and says its sources. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { applyCatalog } from '../../server/catalog/apply.ts'
import { parseCatalogFile } from '../../server/catalog/file.ts'
import { createCatalog } from '../../server/catalog/snapshot.ts'
import { UPSTREAMS } from '../../server/upstreams/index.ts'
import { openDatabase, secrets, silent } from './support.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'catalog')
/** Of the simulated vendors; it has tests of its own. */
const SIMULATORS = 'simulators.json'

const files = globSync(join(FOLDER, '*.json'))
  .filter((path) => basename(path) !== SIMULATORS)
  .sort()
  .map((path) => parseCatalogFile(basename(path), readFileSync(path, 'utf8'), {}))

/** Every variable that the files refer to. */
const environment = Object.fromEntries(
  [...JSON.stringify(files).matchAll(/env:([A-Z0-9_]+)/g)].map(([, name]) => [
    name ?? '',
    'sk-for-tests',
  ]),
)

test('all of them apply together, without a warning, and every channel can be used', async (t) => {
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

for (const { name, content } of files) {
  test(`${name}: secrets come from the environment, prices say where they are from`, () => {
    for (const { id, settings } of content.channels) {
      assert.match(String(settings.api_key), /^env:[A-Z][A-Z0-9_]+$/, id)
    }
    for (const { id, details } of content.models) {
      assert.notEqual(details.price_source !== undefined, details.example === true, id)
      assert.ok(details.display_name && details.owned_by, id)
    }
  })
}
