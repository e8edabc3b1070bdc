/** The samples of Compose, Kubernetes and Prometheus, parsed: their names lead somewhere. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { checkResources, type Resource } from './kubernetes.ts'

interface Parsed {
  readonly errors: readonly unknown[]
  readonly warnings: readonly unknown[]
  toJS(): Json
}

/** The parser that the validator of the OpenAPI document brings. */
const validator = createRequire(import.meta.url).resolve('@seriousme/openapi-schema-validator')
const { parseAllDocuments } = createRequire(validator)('yaml') as {
  parseAllDocuments(text: string, options: object): readonly Parsed[]
}

const ROOT = join(import.meta.dirname, '..', '..')
/** Templates are rendered by helm; see chart.test.ts. */
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT })
const FILES = [
  'compose.yaml',
  ...WORKFLOWS,
  ...globSync('deploy/**/*.yaml', { cwd: ROOT }).filter((path) => !path.includes('/templates/')),
]

type Json = Readonly<Record<string, unknown>>

/** Throws for a key twice, a lost anchor, a wrong indent. */
function parse(path: string): Json[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return parseAllDocuments(text, { merge: true, strict: true, uniqueKeys: true }).map((one) => {
    assert.deepEqual([...one.errors, ...one.warnings], [], path)
    return one.toJS()
  })
}

const only = (path: string): Json => parse(path)[0] ?? {}
const namesOf = (value: unknown) => Object.keys((value ?? {}) as Json)
const listOf = (value: unknown) => (Array.isArray(value) ? value : []) as unknown[]

interface Receiver {
  readonly receiver?: string
  readonly matchers?: readonly string[]
  readonly routes?: readonly Receiver[]
}

const flatten = (route: Receiver): Receiver[] => [route, ...(route.routes ?? []).flatMap(flatten)]

describe('samples of deployments', () => {
  test('are YAML of one meaning', () => {
    assert.ok(FILES.length >= 8, FILES.join())
    for (const path of FILES) assert.ok(parse(path).length > 0, path)
  })

  test('Compose names services, volumes and states that exist', () => {
    const { services: all, volumes } = only('compose.yaml')
    const services = all as Readonly<Record<string, Json>>
    const used = new Set<string>()
    const isChecked = /^HEALTHCHECK /m.test(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
    for (const [name, service] of Object.entries(services)) {
      assert.ok(service.image ?? service.build, `${name} has no image`)
      for (const [other, { condition = '' }] of Object.entries(
        (service.depends_on ?? {}) as Readonly<Record<string, { condition?: string }>>,
      )) {
        assert.ok(services[other], `${name} depends on ${other}`)
        assert.match(condition, /^service_(?:started|healthy|completed_successfully)$/, name)
        if (condition === 'service_healthy') {
          const { healthcheck, build } = services[other] ?? {}
          assert.ok(healthcheck ?? (build && isChecked), `${other} has no health check`)
        }
      }
      for (const mount of listOf(service.volumes).map(String)) {
        const [source = ''] = mount.split(':')
        if (source.startsWith('.') || source.startsWith('/')) continue
        assert.ok(namesOf(volumes).includes(source), `${name} mounts ${source}`)
        used.add(source)
      }
    }
    assert.deepEqual(
      namesOf(volumes).filter((one) => !used.has(one)),
      [],
    )
  })

  test('manifests are resources of Kubernetes, and name each other', () => {
    const resources = globSync('deploy/kubernetes/*.yaml', { cwd: ROOT }).flatMap(parse)
    const ids = resources.map(({ apiVersion, kind, metadata }) => {
      const { name } = (metadata ?? {}) as { name?: string }
      assert.match(String(apiVersion), /^(?:[a-z.0-9]+\/)?v\d\w*$/)
      assert.match(String(name), /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      return `${kind} ${name}`
    })
    assert.equal(new Set(ids).size, ids.length, ids.join())
    assert.equal(checkResources(resources as Resource[]), '')
    const typo = { ...resources[0], spce: {} } as Resource
    assert.match(checkResources([typo]), /"spce"' does not exist/)
    const text = JSON.stringify(resources)
    for (const [, kind, name] of text.matchAll(/"(configMap)Ref":\{"name":"([^"]+)"/g)) {
      assert.ok(ids.includes(`ConfigMap ${name}`), `${kind} ${name}`)
    }
    for (const one of resources.filter(({ kind }) => kind === 'Deployment')) {
      const { selector, template } = one.spec as {
        selector: { matchLabels: Json }
        template: { metadata: { labels: Json } }
      }
      for (const [label, value] of Object.entries(selector.matchLabels)) {
        assert.equal(template.metadata.labels[label], value, label)
      }
    }
  })

  test('Prometheus reads files and finds services that Compose has', () => {
    const services = namesOf(only('compose.yaml').services)
    const compose = JSON.stringify(only('compose.yaml'))
    const {
      rule_files: rules,
      alerting,
      scrape_configs: jobs,
    } = only('deploy/prometheus/prometheus.yaml')
    for (const path of listOf(rules).map(String)) {
      assert.ok(compose.includes(`deploy/prometheus/${basename(path)}:${path}`), path)
    }
    const targets = [...JSON.stringify(alerting).matchAll(/"([a-z-]+):\d+"/g)]
    assert.ok(targets.length > 0)
    for (const [, name = ''] of targets) assert.ok(services.includes(name), name)
    const names = [...JSON.stringify(jobs).matchAll(/"names":\[([^\]]*)\]/g)]
    const found = names.flatMap(([, list = '']) => list.replaceAll('"', '').split(','))
    assert.ok(found.length > 0)
    for (const name of found) {
      assert.ok(services.includes(name) || compose.includes(`"aliases":["${name}"]`), name)
    }
  })

  test('workflows run actions of one commit, with no rights that no step uses', () => {
    assert.ok(WORKFLOWS.length >= 2)
    for (const path of WORKFLOWS) {
      const { permissions, jobs } = only(path)
      const rights = Object.values((permissions ?? { all: 'write' }) as Json)
      assert.ok(!rights.includes('write'), `${path} gives rights to all jobs`)
      const steps = Object.values(jobs as Json).flatMap((job) => listOf((job as Json).steps))
      for (const { uses, run } of steps as { uses?: string; run?: string }[]) {
        if (uses) assert.match(uses, /^[\w./-]+@[0-9a-f]{40}$/, path)
        // What somebody else names, such as a tag, is no part of a command.
        else assert.doesNotMatch(run ?? '', /\$\{\{/, path)
      }
    }
    const bases = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)
    for (const [, base = ''] of bases) assert.match(base, /@sha256:[0-9a-f]{64}$/)
  })

  test('Alertmanager sends every alert to a receiver that exists', () => {
    const {
      route,
      receivers,
      inhibit_rules: inhibitions,
    } = only('deploy/prometheus/alertmanager.yaml')
    const known = listOf(receivers).map((one) => (one as { name: string }).name)
    const routes = flatten(route as Receiver)
    for (const { receiver = '' } of routes) assert.ok(known.includes(receiver), receiver)
    const { groups } = only('deploy/prometheus/alerts.yaml') as unknown as {
      groups: { rules: { alert: string; labels: { severity: string } }[] }[]
    }
    const alerts = groups.flatMap(({ rules }) => rules)
    const severities = new Set(alerts.map(({ labels }) => labels.severity))
    const matched = [...JSON.stringify([route, inhibitions]).matchAll(/"(\w+) = (\w+)"/g)]
    assert.ok(matched.length >= 3)
    for (const [, label, value = ''] of matched) {
      const values = label === 'severity' ? [...severities] : alerts.map(({ alert }) => alert)
      assert.ok(values.includes(value), `${label} = ${value}`)
    }
  })
})
