/** The chart: what it renders with helm, and what can be told of its templates without it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { checkResources, readResources } from './kubernetes.ts'

const CHART = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'tributary')
/** The path of another binary than the one on the path. */
const HELM = process.env.HELM ?? 'helm'
const hasHelm = spawnSync(HELM, ['version']).status === 0
const skip = hasHelm ? false : 'needs helm (HELM is the path of its binary)'

const STORE = ['settings.S3_ENDPOINT=https://s3.example.com', 'settings.S3_BUCKET=files']

function render(
  settings: readonly string[],
  ...more: readonly string[]
): { readonly out: string; readonly err: string } {
  const flags = [...settings.flatMap((one) => ['--set', one]), ...more]
  const { stdout, stderr } = spawnSync(HELM, ['template', 'tributary', CHART, ...flags], {
    encoding: 'utf8',
  })
  return { out: stdout, err: stderr }
}

function count(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0
}

describe('the rendered chart', { skip }, () => {
  test('has a place for files, or is refused', () => {
    assert.match(render([]).err, /one place for files and results\. Set settings\.S3_ENDPOINT/)
    assert.match(render(['settings.S3_BUCKET=files']).err, /settings\.S3_ENDPOINT/)
    const { out, err } = render(['filesClaim=shared'])
    assert.equal(err, '')
    assert.equal(count(out, /mountPath: \/data\/files\b/g), 4, 'gateway, worker, audit, archive')
    assert.equal(count(out, /claimName: shared\b/g), 4)
  })

  test('gives every pod its settings, so that a change replaces it and a rollback undoes it', () => {
    const { out, err } = render([...STORE, 'settings.LOG_LEVEL=debug'])
    assert.equal(err, '')
    assert.doesNotMatch(out, /kind: ConfigMap|configMapRef/)
    assert.equal(count(out, /name: LOG_LEVEL, value: "debug"/g), 5, 'with the migration')
    assert.equal(count(out, /checksum\/secret: [0-9a-f]{64}/g), 2)
    assert.equal(count(out, /helm\.sh\/hook: /g), 1, 'only the migration is a hook')
  })

  test('passes numbers of a file of values as they are written', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-values-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'values.yaml')
    writeFileSync(file, 'settings: { MEMORY_BYTES_MAX: 1073741824, CALLS_MAX: 1000000 }\n')
    const { out, err } = render(STORE, '-f', file)
    assert.equal(err, '')
    assert.equal(count(out, /name: MEMORY_BYTES_MAX, value: "1073741824"/g), 5)
    assert.equal(count(out, /name: CALLS_MAX, value: "1000000"/g), 5)
  })

  test('has nothing that Kubernetes does not know', () => {
    const all = [
      ['filesClaim=shared'],
      [...STORE, 'gateway.replicas=1', 'worker.replicas=3', 'gateway.storageClassName=fast'],
      [...STORE, 'ingress.enabled=true', 'ingress.className=nginx', 'ingress.tlsSecret=cert'],
      [...STORE, 'jobs.backup.claim=backups', 'metrics.podMonitor=true'],
    ].flatMap((settings) => readResources(render(settings).out))
    const kinds = new Set(all.map(({ kind }) => kind))
    assert.ok(kinds.has('Ingress') && kinds.has('PodMonitor') && kinds.has('CronJob'))
    assert.equal(checkResources(all), '')
  })

  test('waits for the drain that its settings ask for', () => {
    const { out } = render([...STORE, 'settings.DRAIN_SECONDS=600', 'preStopSeconds=10'])
    assert.match(out, /terminationGracePeriodSeconds: 625\b/)
    assert.doesNotMatch(out, /terminationGracePeriodSeconds: (?!625\b)/)
  })

  test('keeps pods ready for as long as their calls wait for the database', () => {
    const ready = /path: \/readyz, port: http \}\n.*\n.*\n +failureThreshold: (\d+)$/gm
    const thresholds = (settings: readonly string[]) =>
      [...render([...STORE, ...settings]).out.matchAll(ready)].map(([, count]) => count)
    assert.deepEqual(thresholds([]), ['1', '1'])
    assert.deepEqual(thresholds(['settings.ADMIT_WAIT_SECONDS=40']), ['21', '21'])
  })

  test('refuses secrets among the settings, and a budget that blocks every node', () => {
    const secret = render([...STORE, 'settings.DATABASE_URL=postgres://x'])
    assert.match(secret.err, /settings\.DATABASE_URL: secrets belong in the Secret/)
    assert.match(render([...STORE, 'gateway.minAvailable=2']).err, /must be less than/)
    assert.match(render([...STORE, 'gateway.replicas=1']).out, /maxUnavailable: 1/)
  })

  test('runs audit and archive by itself, and the backup once it has a place', () => {
    assert.equal(count(render(STORE).out, /kind: CronJob/g), 2)
    const { out } = render([...STORE, 'jobs.backup.claim=backups'])
    assert.match(out, /args: \["backup","--into","\/backups","--keep","14"\]/)
    assert.equal(count(render([...STORE, 'jobs.audit.schedule=']).out, /kind: CronJob/g), 1)
  })
})

describe('the templates of the chart', () => {
  const files = globSync('templates/*', { cwd: CHART }).map(
    (path) => [path, readFileSync(join(CHART, path), 'utf8')] as const,
  )
  const all = files.map(([, text]) => text).join('\n')
  const values = readFileSync(join(CHART, 'values.yaml'), 'utf8')

  test('use values and parts that exist, and close what they open', () => {
    const parts = new Set([...all.matchAll(/define "([^"]+)"/g)].map(([, name = '']) => name))
    for (const [, name = ''] of all.matchAll(/include "([^"]+)"/g)) assert.ok(parts.has(name), name)
    for (const [, first = '', second] of all.matchAll(/\.Values\.(\w+)(?:\.(\w+))?/g)) {
      const section = new RegExp(`^${first}:(?:.*)\\n(?:(?:[ #].*)?\\n)*`, 'm').exec(`${values}\n`)
      assert.ok(section, `.Values.${first}`)
      if (second && /[a-z]/.test(second)) assert.match(section[0], new RegExp(`^  ${second}:`, 'm'))
    }
    for (const [path, text] of files) {
      const opened = count(text, /\{\{-? (?:if|with|range|define) /g)
      assert.equal(count(text, /\{\{-? end \}\}/g), opened, path)
    }
  })

  test('read no setting from a resource that a rollback leaves as it is', () => {
    assert.doesNotMatch(all, /configMapRef|kind: ConfigMap/)
    assert.equal(count(all, /include "tributary\.container"/g), 4)
    assert.equal(count(all, /include "tributary\.settings"/g), 4)
  })

  test('have a schema that knows every value', () => {
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
    const names = [...values.matchAll(/^(\w+):/gm)].map(([, name]) => name)
    const { global: _, ...known } = schema.properties
    assert.deepEqual(Object.keys(known).toSorted(), names.toSorted())
  })
})
