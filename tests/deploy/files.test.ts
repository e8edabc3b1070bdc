/** Container, chart, manifests and unit agree with the gateway that they run. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { listVariables } from '../../server/api/config/config.ts'
import { startServer } from '../support/servers/local-server.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const CHART = 'deploy/helm/tributary'
const MANIFESTS = ['1-migrate', '2-gateways', '3-jobs'].map(
  (name) => `deploy/kubernetes/${name}.yaml`,
)
const UNITS = globSync('deploy/systemd/*.service', { cwd: ROOT })
const HELPERS = `${CHART}/templates/_helpers.tpl`

/** Of the programs beside the gateway. */
const FOREIGN = /^(?:POSTGRES|MINIO|GF|GRAFANA)_|^(?:NODE_ENV|SECRET)$/

describe('files that run the gateway', () => {
  const known = new Set(listVariables().map(({ name }) => name))

  test('name no variable that does not exist', () => {
    const files = ['Dockerfile', 'compose.yaml', ...UNITS, ...MANIFESTS]
    const others = ['deploy/compose.env.example', `${CHART}/values.yaml`]
    const strange = [...files, ...others].flatMap((path) => {
      const text = read(path).replace(/^\s*#.*$/gm, '')
      const names = [...text.matchAll(/(?<![\w$])([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|: )/g)]
      return names.flatMap(([, name = '']) =>
        known.has(name) || FOREIGN.test(name) ? [] : `${path} ${name}`,
      )
    })
    assert.deepEqual(strange, [])
  })

  test('pass the keys of the vendors to every gateway of Compose', () => {
    const [gateway = ''] = read('compose.yaml').split(/^services:$/m)
    assert.match(gateway, /^ {2}env_file: \[upstreams\.env\]$/m)
    const example = read('deploy/upstreams.env.example')
    const catalogs = globSync('catalog/*.json', { cwd: ROOT }).map(read).join()
    const named = new Set([...catalogs.matchAll(/"env:([A-Z_]+)"/g)].map(([, name]) => name))
    const listed = [...example.matchAll(/^#([A-Z_]+)=$/gm)].map(([, name]) => name)
    assert.deepEqual(listed, [...named].toSorted())
    for (const file of ['.gitignore', '.dockerignore'])
      assert.match(read(file), /^(?:\/upstreams|\*)\.env$/m, file)
  })

  test('bound the memory and the logs of every service of Compose', () => {
    const [head = '', body = ''] = read('compose.yaml').split(/^services:$/m)
    const [, gateway = ''] = head.split('x-gateway:')
    const services = (body.split(/^volumes:$/m)[0] ?? '').split(/^ {2}(?=\S+:)/m).slice(1)
    assert.ok(services.length >= 12)
    for (const service of services) {
      const whole = /<<: \*(?:gateway|job)/.test(service) ? service + gateway : service
      if (service.startsWith('bucket:')) continue
      assert.match(whole, /mem_limit: \d+[mg]\n/, service)
      assert.match(whole, /<<: \*logging\n/, service)
    }
    assert.match(head, /TRUSTED_PROXIES: 172\.16\.0\.0\/12,192\.168\.0\.0\/16\n/)
  })

  test('run the same at night everywhere: audit, backup, archive', () => {
    const jobs = {
      audit: ['audit'],
      backup: ['backup', '--into', '', '--keep', '14'],
      archive: ['archive', 'create', '--older-than', '12m'],
    }
    const words = (text = '') => text.split(/[\s,]+/).map((word) => word.replaceAll(/['"]/g, ''))
    const withoutPlace = (list: readonly string[]) =>
      list.map((word) => (word.startsWith('/') ? '' : word))
    const compose = read('compose.yaml')
    const values = read(`${CHART}/values.yaml`)
    const manifest = read(MANIFESTS[2] ?? '')
    for (const [name, expected] of Object.entries(jobs)) {
      const unit = read(`deploy/systemd/tributary-${name}.service`)
      assert.match(read(`deploy/systemd/tributary-${name}.timer`), /^OnCalendar=.* UTC$/m)
      assert.match(read('deploy/cron/tributary'), new RegExp(`run --rm ${name}$`, 'm'))
      for (const text of [
        /^ExecStart=.* bin\/tributary\.ts (.*)$/m.exec(unit)?.[1],
        new RegExp(`^ {2}${name}:[^\\n]*\\n(?: {4}.*\\n)*? {4}command: \\[(.*)\\]$`, 'm').exec(
          compose,
        )?.[1],
        new RegExp(`^ {2}${name}:\\n {4}schedule: .*\\n {4}args: \\[(.*)\\]$`, 'm').exec(
          values,
        )?.[1],
        new RegExp(`- name: ${name}\\n(?: {12}.*\\n)*? {12}args: \\[(.*)\\]$`, 'm').exec(
          manifest,
        )?.[1],
      ]) {
        assert.deepEqual(withoutPlace(words(text)), expected, `${name}: ${text}`)
      }
    }
  })

  test('confine the jobs of systemd like the gateway', () => {
    const [gateway = ''] = read('deploy/systemd/tributary.service').split('\n[Install]')
    const expected = gateway.slice(gateway.indexOf('UMask=')).trim()
    assert.match(expected, /^SystemCallFilter=@system-service$/m)
    for (const name of ['archive', 'audit', 'backup']) {
      assert.ok(read(`deploy/systemd/tributary-${name}.service`).includes(expected), name)
    }
  })

  test('wait longer for the end than the gateway may take', () => {
    const drain = 5 + Number(listVariables().find(({ name }) => name === 'DRAIN_SECONDS')?.default)
    const compose = Number(/stop_grace_period: (\d+)s/.exec(read('compose.yaml'))?.[1])
    const unit = Number(/TimeoutStopSec=(\d+)/.exec(read('deploy/systemd/tributary.service'))?.[1])
    assert.ok(compose >= drain + 10 && unit >= drain + 10)
    const preStop = Number(/preStopSeconds: (\d+)/.exec(read(`${CHART}/values.yaml`))?.[1])
    const manifest = read(MANIFESTS[1] ?? '')
    const graces = [...manifest.matchAll(/terminationGracePeriodSeconds: (\d+)/g)]
    assert.equal(graces.length, 2)
    for (const [, grace] of graces) assert.ok(Number(grace) >= preStop + drain + 10)
  })

  test('are of this version, and of no moving tag', () => {
    const { version } = JSON.parse(read('package.json'))
    assert.match(read(`${CHART}/Chart.yaml`), new RegExp(`^appVersion: ${version}$`, 'm'))
    const images = [...MANIFESTS, 'compose.yaml'].flatMap((path) =>
      [...read(path).matchAll(/^\s+(?:- )?image: (\S+)$/gm)].map(([, image = '']) => image),
    )
    assert.ok(images.includes(`tributary:${version}`))
    const moving = images.filter((image) => !image.includes(':') || image.endsWith(':latest'))
    assert.deepEqual(moving, ['tributary'], 'only what compose builds itself has no tag')
  })

  test('run without root, without rights, on a read-only root', () => {
    const dockerfile = read('Dockerfile')
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    assert.match(last, /^USER 65532:65532$/m)
    assert.match(last, /^HEALTHCHECK .*\n.*health\.mjs/m)
    assert.doesNotMatch(last, /^RUN /m, 'the base has no shell')
    assert.match(read('compose.yaml'), /read_only: true/)
    for (const path of [...MANIFESTS, HELPERS]) {
      const text = read(path)
      assert.match(text, /readOnlyRootFilesystem: true/, path)
      assert.match(text, /runAsNonRoot: true/, path)
      assert.match(text, /drop:\s*(?:\[ALL\]|- ALL)/, path)
    }
  })

  test('probe what lives, what is ready, and let traffic go first', () => {
    for (const path of [HELPERS, MANIFESTS[1] ?? '']) {
      const text = read(path)
      for (const member of ['startupProbe', 'livenessProbe', 'readinessProbe', 'preStop']) {
        assert.ok(text.includes(`${member}:`), `${path} has no ${member}`)
      }
      assert.match(text, /livenessProbe:\n\s+httpGet:[\s{]*path: \/healthz/)
      assert.match(text, /readinessProbe:\n\s+httpGet:[\s{]*path: \/readyz/)
    }
    assert.equal(read(MANIFESTS[1] ?? '').match(/kind: PodDisruptionBudget/g)?.length, 2)
  })

  test('copy folders that exist', () => {
    const [, list = ''] = /^cp -r (.*) node_modules/m.exec(read('deploy/docker/collect.sh')) ?? []
    for (const path of list.split(' ')) assert.ok(existsSync(join(ROOT, path)), path)
    assert.equal(globSync('deploy/grafana/dashboards/*.json', { cwd: ROOT }).length, 2)
  })
})

test('the health check follows /healthz', async (t) => {
  let status = 200
  const server = await startServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? status : 404).end()
  })
  t.after(server.stop)
  const { port } = server
  const script = join(ROOT, 'deploy', 'docker', 'health.mjs')
  const run = async () => {
    const child = spawn(process.execPath, [script], { env: { PORT: String(port) } })
    return (await once(child, 'exit'))[0]
  }
  assert.equal(await run(), 0)
  status = 503
  assert.equal(await run(), 1)
  await server.stop()
  assert.equal(await run(), 1)
})

test('the modules of an image are compiled as its gateway looks for them', (t) => {
  const app = mkdtempSync(join(tmpdir(), 'tributary-app-'))
  t.after(() => rmSync(app, { recursive: true, force: true }))
  const modules = ['bin/lib/run.ts', 'bin/commands/run/serve.ts', 'server/main.ts']
  const flags = "export const ENGINE_FLAGS: readonly string[] = ['--expose-gc']"
  for (const path of [...modules, 'bin/lib/engine-flags.ts']) {
    mkdirSync(dirname(join(app, path)), { recursive: true })
    writeFileSync(join(app, path), flags)
  }
  const script = join(ROOT, 'deploy', 'docker', 'compile.mjs')
  // That of the tests would take its place.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const { status, stderr } = spawnSync(process.execPath, [script, app], { env })
  assert.equal(status, 0, String(stderr))
  const folder = join(app, 'node_modules', '.cache', 'compile')
  const look = `const { enableCompileCache, getCompileCacheDir } = require('node:module')
    enableCompileCache({ directory: ${JSON.stringify(folder)}, portable: true })
    console.log(getCompileCacheDir())`
  const { stdout } = spawnSync(process.execPath, ['--expose-gc', '-e', look], { env })
  const found = String(stdout).trim()
  const files = globSync('*', { cwd: found })
  assert.ok(files.length >= modules.length, `${files.length} files`)
  for (const file of files) assert.equal(statSync(join(found, file)).mode & 0o777, 0o444)
  for (const build of ['Dockerfile', 'deploy/docker/build-without-engine.sh']) {
    assert.match(read(build), /deploy\/docker\/compile\.mjs/)
  }
})

test('the bill of materials has the packages of production, each with its digest', () => {
  const script = join(ROOT, 'scripts', 'build-sbom.mjs')
  const { stdout } = spawnSync(process.execPath, [script])
  const bom = JSON.parse(String(stdout))
  const again = JSON.parse(String(spawnSync(process.execPath, [script]).stdout))
  assert.deepEqual(bom, again)
  assert.deepEqual([bom.bomFormat, bom.specVersion], ['CycloneDX', '1.6'])
  const { dependencies } = JSON.parse(read('package.json'))
  const required = bom.components.filter(({ scope }: { scope: string }) => scope === 'required')
  const names = new Set(required.map(({ name }: { name: string }) => name))
  for (const [name, version] of Object.entries(dependencies)) {
    assert.ok(names.has(name), name)
    const found = bom.components.find((one: { name: string }) => one.name === name)
    assert.equal(found.version, version)
    assert.match(found.hashes[0].content, /^[0-9a-f]{128}$/)
  }
  assert.ok(!names.has('typescript') && !names.has('vite'))
})
