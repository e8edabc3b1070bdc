import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { list, simulated } from './support.ts'

const sim = simulated()
const guide = readFileSync(new URL('../../docs/guides/simulators.md', import.meta.url), 'utf8')

test('the guide has a row for every scenario, and for no other', async () => {
  const { json } = await sim.get('/sim')
  const names = list(json.scenarios).map((scenario) => String(scenario.name))
  const rows = [...guide.matchAll(/^\| `([a-z][a-z0-9_-]+)` +\| /gm)]
  const written = new Set(rows.map((row) => row[1]))
  for (const name of names) assert.ok(written.has(name), name)
  for (const vendor of list(json.vendors)) written.delete(String(vendor.name))
  const unknown = [...written].filter((name) => name && !names.includes(name))
  assert.deepEqual(unknown, [])
})
