/** Dashboards and alert rules ask only for metrics that exist, by labels that they have. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listMetrics } from '../../server/api/metrics/metrics.ts'

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy')
const DASHBOARDS = join(DEPLOY, 'grafana', 'dashboards')
const ALERTS = join(DEPLOY, 'prometheus', 'alerts.yaml')

/** Of Node's client and of Prometheus itself. */
const FOREIGN = new Set(['process_resident_memory_bytes', 'process_cpu_seconds_total', 'up'])
/** Added by Prometheus, or part of every histogram. */
const ADDED = ['instance', 'job', 'le']

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
}

const known = new Map(
  listMetrics().flatMap(({ name, type, labels }) =>
    (SUFFIXES[type] ?? ['']).map((suffix) => [name + suffix, new Set([...labels, ...ADDED])]),
  ),
)

/** Returns what an expression names that does not exist. */
function findUnknown(expression: string): string[] {
  const uses = [...expression.matchAll(/\b((?:tributary|process|nodejs)_\w+|up)(\{[^}]*\})?/g)]
  const names = uses.flatMap(([, name = '']) => (known.has(name) || FOREIGN.has(name) ? [] : name))
  const labelsOf = uses.flatMap(([, name = '', matchers = '']) =>
    [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) =>
      !known.has(name) || known.get(name)?.has(label) ? [] : `${name}{${label}}`,
    ),
  )
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  const offered = new Set(uses.flatMap(([, name = '']) => [...(known.get(name) ?? ADDED)]))
  const strange = grouped.filter((label) => !offered.has(label)).map((label) => `by ${label}`)
  return [...names, ...labelsOf, ...strange]
}

interface Dashboard {
  readonly uid: string
  readonly schemaVersion: number
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number }
    readonly targets: readonly { readonly expr: string; readonly refId: string }[]
  }[]
}

describe('dashboards', () => {
  for (const file of readdirSync(DASHBOARDS)) {
    const board: Dashboard = JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8'))

    test(`${file} asks for what exists`, () => {
      const unknown = board.panels.flatMap(({ title, targets }) =>
        targets.flatMap(({ expr }) => findUnknown(expr).map((one) => `${title}: ${one}`)),
      )
      assert.deepEqual(unknown, [])
    })

    test(`${file} has the shape that Grafana reads`, () => {
      assert.ok(board.uid.length <= 40 && board.schemaVersion >= 36)
      const ids = board.panels.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
      const places = board.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
      assert.equal(new Set(places).size, places.length)
      assert.ok(board.panels.every(({ gridPos: { x, w } }) => x + w <= 24))
    })
  }

  test('together they show every metric of the gateway', () => {
    const text = readdirSync(DASHBOARDS)
      .map((file) => readFileSync(join(DASHBOARDS, file), 'utf8'))
      .join()
    const missing = listMetrics().filter(({ name }) => !text.includes(name))
    // Dropped spans concern the collector, not the gateway.
    assert.deepEqual(
      missing.map(({ name }) => name),
      ['tributary_spans_dropped_total'],
    )
  })
})

describe('alert rules', () => {
  const text = readFileSync(ALERTS, 'utf8')
  const rules = text.split(/^ {6}- alert: /m).slice(1)

  test('ask for what exists, and say what happened', () => {
    assert.ok(rules.length >= 10)
    for (const rule of rules) {
      const [name = ''] = rule.split('\n')
      const expression = /expr: ?\|?([\s\S]*?)\n {8}(?:for|labels):/.exec(rule)?.[1] ?? ''
      assert.ok(expression.trim() !== '', name)
      assert.deepEqual(findUnknown(expression), [], name)
      assert.match(rule, /severity: (?:critical|warning)/, name)
      assert.match(rule, /summary: /, name)
    }
  })

  test('each is made to fire by a test of its own', () => {
    const tests = readFileSync(join(DEPLOY, 'prometheus', 'alerts.test.yaml'), 'utf8')
    const fired = [...tests.matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/g)]
    const names = new Set(fired.map(([, name]) => name))
    const untested = rules.map((rule) => rule.split('\n')[0]).filter((name) => !names.has(name))
    assert.deepEqual(untested, [])
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  test('pass their own tests', { skip: hasPromtool ? false : 'needs promtool' }, () => {
    const file = join(DEPLOY, 'prometheus', 'alerts.test.yaml')
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file])
    assert.equal(status, 0, `${stdout}${stderr}`)
  })
})

test('the check of these files finds a name and a label that do not exist', () => {
  assert.deepEqual(findUnknown('sum by (key_id) (rate(tributary_call_total{account="x"}[5m]))'), [
    'tributary_call_total',
    'by key_id',
  ])
  assert.deepEqual(findUnknown('tributary_calls_total{account="x"}'), [
    'tributary_calls_total{account}',
  ])
})
