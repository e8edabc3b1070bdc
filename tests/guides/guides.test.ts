import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listVariables } from '../../server/api/config/config.ts'
import { listStatuses } from '../../server/api/endpoints/reference/statuses.ts'
import { listMetrics } from '../../server/api/metrics/metrics.ts'
import { ALERT_EVENTS } from '../../server/base/lib/kinds-and-states.ts'
import { UNITS } from '../../server/base/lib/units.ts'
import { chatQuirks } from '../../server/wire/dialects/chat/quirks.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'

const readGuide = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', name), 'utf8')

/** The cells of each row of a page's tables. */
function readRows(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim().replace(/^\||\|$/g, '')),
    )
}

describe('the guides agree with the code', () => {
  const operate = readGuide('operate.md')
  const rows = readRows(operate)
  const rowOf = (name: string) => rows.find(([first]) => first?.trim() === name)

  test('every variable, its default and its meaning', () => {
    for (const { name, default: initial, description } of listVariables()) {
      const row = rowOf(`\`${name}\``)
      assert.ok(row, `${name} is missing`)
      assert.equal(row[1]?.trim(), initial === '' ? '' : `\`${initial}\``, name)
      assert.equal(row[2]?.trim(), description, name)
    }
  })

  test('every metric of ours, and none that is not there', () => {
    const told = rows.flatMap(
      ([first]) => /^`(tributary_\w+)`$/.exec(first?.trim() ?? '')?.[1] ?? [],
    )
    assert.deepEqual(
      told,
      listMetrics().map(({ name }) => name),
    )
  })

  test('the tables are those that scripts/build-reference.ts writes', () => {
    const script = join(import.meta.dirname, '..', '..', 'scripts', 'build-reference.ts')
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'])
    assert.equal(status, 0, String(stderr))
  })

  test('every status and what it means', () => {
    for (const { status, type, meaning } of listStatuses()) {
      const row = rowOf(String(status))
      assert.deepEqual(
        row?.slice(1).map((cell) => cell.trim()),
        [`\`${type}\``, meaning],
      )
    }
  })

  test('every upstream, unit and quirk of the catalog, and every alert, has a row', () => {
    const names = [...UPSTREAMS.keys(), ...UNITS, ...Object.keys(chatQuirks.shape)]
    const pages = { 'catalog.md': names, 'alerts.md': ALERT_EVENTS }
    for (const [page, listed] of Object.entries(pages)) {
      const firsts = readRows(readGuide(page)).map(([first = '']) => first)
      for (const name of listed) {
        assert.ok(
          firsts.some((first) => first.includes(`\`${name}\``)),
          `${page}: ${name}`,
        )
      }
    }
  })
})
