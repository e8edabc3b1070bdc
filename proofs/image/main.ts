/**
 * Proves that the image runs under the chart's security context, without an engine and without a
 * registry: `npm run prove:image`. Needs Debian's buildah and runc, and root. Builds the image,
 * starts a gateway in it with runc, passes the smoke test, tries what must be refused inside, and
 * stops it while a stream runs.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openLaboratory } from '../../testbed/laboratory.ts'
import { readOptions } from '../../testbed/options.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { SECRET_KEY } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { buildImage } from './build.ts'
import { type Container, startContainer } from './container.ts'

readOptions(import.meta.filename, {})
for (const program of ['buildah', 'runc']) {
  if (spawnSync(program, ['--version']).status === 0) continue
  console.error(`${program} is missing: install Debian's buildah and runc`)
  process.exit(2)
}

/** Far fewer files than a gateway's modules take. */
const COMPILED_MIN = 500
const SMOKE = join(import.meta.dirname, '..', '..', 'deploy', 'docker', 'smoke-test.mjs')
const conditions = readConditions('npm run prove:image')
const name = `tributary-proof-${process.pid}`
console.log('building the image …')
const image = await buildImage(name)
const laboratory = await openLaboratory({ shared: true })
const folder = join(laboratory.dataDir, 'containers')
const databaseUrl = laboratory.databaseUrl ?? ''
const socketFolder = decodeURIComponent(/@([^:]+):/.exec(databaseUrl)?.[1] ?? '')
// The server lets its own user in; the container's has another number, and the password.
chmodSync(socketFolder, 0o755)
for (const name of readdirSync(socketFolder)) chmodSync(join(socketFolder, name), 0o777)
const port = await findFreePort()
const metricsPort = await findFreePort()
const url = `http://127.0.0.1:${port}`
const key = laboratory.keys[0]?.key ?? ''

const checks: { readonly name: string; readonly ok: boolean; readonly detail: string }[] = []
function check(name: string, ok: boolean, detail = ''): void {
  checks.push({ name, ok, detail: detail.trim() })
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${detail.trim()}`)
}

const start = (suffix: string, ...args: readonly string[]) =>
  startContainer({
    image,
    name: `${name}-${suffix}`,
    folder: join(folder, suffix),
    args,
    env: {
      DATABASE_URL: databaseUrl,
      SECRET_KEY,
      HOST: '127.0.0.1',
      PORT: String(port),
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: String(metricsPort),
      DRAIN_DELAY_SECONDS: '0',
    },
    shared: [socketFolder],
  })

/** A command of the image that ends by itself. */
async function command(...args: readonly string[]): Promise<void> {
  const container = await start(args.join('-'), ...args)
  const { code } = await container.exited
  check(`tributary ${args.join(' ')}`, code === 0, container.log().split('\n').at(-2))
}

async function checkProcess(gateway: Container): Promise<void> {
  const { output } = await gateway.exec(inNode("readFileSync('/proc/1/status', 'utf8')"))
  const of = (field: string) => new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(output)?.[1] ?? ''
  const expected = image.config.User.split(':')[0] ?? ''
  check(
    'its user is not root',
    /^(\d+)\t\1\t\1\t\1$/.test(of('Uid')) && of('Uid').startsWith(expected),
    of('Uid'),
  )
  const capabilities = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(of)
  check(
    'it has no capability',
    capabilities.every((set) => /^0+$/.test(set)),
    capabilities[2],
  )
  check('it gains no privileges', of('NoNewPrivs') === '1')
  check('system calls are filtered', of('Seccomp') === '2', `mode ${of('Seccomp')}`)
}

function inNode(expression: string): readonly string[] {
  const imports = "const { readFileSync, writeFileSync } = require('node:fs')"
  return ['/usr/local/bin/node', '-e', `${imports}; console.log(${expression})`]
}

async function checkFiles(gateway: Container): Promise<void> {
  for (const path of ['/app/bin/x', '/etc/x', '/usr/local/bin/x']) {
    const { code, output } = await gateway.exec(inNode(`writeFileSync('${path}', '')`))
    check(`${path} cannot be written`, code !== 0 && output.includes('EROFS'))
  }
  for (const path of ['/data/x', '/tmp/x']) {
    const { code } = await gateway.exec(inNode(`writeFileSync('${path}', '')`))
    check(`${path} can be written`, code === 0)
  }
  const { code } = await gateway.exec(['/bin/sh', '-c', 'true'])
  check('there is no shell', code !== 0)
  const [, ...test] = image.config.Healthcheck.Test
  check('the health check passes', (await gateway.exec(test)).code === 0, test.join(' '))
}

/** The engine must find what was compiled when the image was built. */
async function checkCompiled(gateway: Container): Promise<void> {
  const { output } = await gateway.exec(inNode("readFileSync('/proc/1/cmdline', 'utf8')"))
  const flags = output.split('\0').filter((word) => word.startsWith('--'))
  const list = `const { enableCompileCache, getCompileCacheDir } = require('node:module')
    enableCompileCache({ directory: '/app/node_modules/.cache/compile', portable: true })
    console.log(require('node:fs').readdirSync(getCompileCacheDir()).length)`
  const listed = await gateway.exec(['/usr/local/bin/node', ...flags, '-e', list])
  const files = Number(listed.output)
  check('its modules are compiled', files > COMPILED_MIN, `${files} files`)
}

/** A stream that runs while the container is stopped must end whole. */
async function checkStop(gateway: Container): Promise<void> {
  const content = '[[chunks:20]] [[chunk-delay:50]]'
  const body = { model: 'sim-chat', stream: true, messages: [{ role: 'user', content }] }
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await gateway.stopInOrder()
  const text = await answer.text()
  check('a stream outlives the stop signal', text.endsWith('data: [DONE]\n\n'))
  const { code } = await gateway.exited
  check('it ends with 0', code === 0, `exit code ${code}`)
  const lines = gateway.log().trim().split('\n')
  const plain = lines.filter((line) => !line.startsWith('{'))
  check('every line of its log is JSON', plain.length === 0, plain[0] ?? `${lines.length} lines`)
}

function smoke(): void {
  const words = [SMOKE, url, key, 'sim-chat', `http://127.0.0.1:${metricsPort}`]
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  for (const line of stdout.trim().split('\n')) {
    const [, verdict, what = ''] = /^(ok|FAIL)\s+(.*)$/.exec(line) ?? []
    check(`smoke test: ${what}`, verdict === 'ok')
  }
  check('the smoke test ends with 0', status === 0)
}

try {
  await command('--version')
  await command('migrate')
  const gateway = await start('gateway')
  try {
    await until('a gateway that is ready', async () => {
      if (gateway.hasExited()) throw new Error(gateway.log())
      const answer = await fetch(`${url}/readyz`).catch(() => undefined)
      return answer?.status === 200 || undefined
    })
    await checkProcess(gateway)
    await checkFiles(gateway)
    await checkCompiled(gateway)
    smoke()
    await checkStop(gateway)
  } finally {
    if (!gateway.hasExited()) await gateway.stop()
  }
  await command('audit')
} finally {
  await laboratory.close()
  await image.remove()
  rmSync(folder, { recursive: true, force: true })
}

const runc = spawnSync('runc', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0]
const ok = checks.every((one) => one.ok)
report('prove-image', conditions, { ok, bytes: image.bytes, checks }, [
  `${Math.round(image.bytes / 1e6)} MB, ${runc}, system calls: Podman's default list.`,
  '',
  ...table(checks.map((one) => [one.name, one.ok ? 'ok' : 'FAIL'])),
  '',
  ok ? 'PASSED' : 'FAILED',
])
if (!ok) process.exitCode = 1
