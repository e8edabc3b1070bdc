/**
 * Proves what the chart renders, without Helm: `npm run prove:chart`. Needs Debian's golang-go,
 * golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev, from which it builds a stand-in
 * with Helm's own template engine. Runs the tests of the chart with it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../testbed/options.ts'
import { readConditions, report } from '../../testbed/results.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PACKAGES = '/usr/share/gocode'

readOptions(import.meta.filename, {})
if (!existsSync(join(PACKAGES, 'src', 'github.com', 'Masterminds', 'sprig'))) {
  console.error(
    "Sprig is missing: install Debian's golang-go, golang-github-masterminds-sprig-dev and " +
      'golang-gopkg-yaml.v3-dev',
  )
  process.exit(2)
}
const conditions = readConditions('npm run prove:chart')
const folder = mkdtempSync(join(tmpdir(), 'tributary-chart-'))
const helm = join(folder, 'helm')
const source = join(import.meta.dirname, 'render.go')
const built = spawnSync('go', ['build', '-o', helm, source], {
  encoding: 'utf8',
  env: { ...process.env, GO111MODULE: 'off', GOPATH: PACKAGES, GOCACHE: join(folder, 'cache') },
})
if (built.status !== 0) {
  console.error(built.stderr || built.error?.message)
  process.exit(2)
}
const { status, stdout } = spawnSync('npm', ['test', '--', 'tests/deploy/chart.test.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
  env: { ...process.env, HELM: helm },
})
rmSync(folder, { recursive: true, force: true })
const checks = stdout.split('\n').filter((line) => /^\s*[✔✖]|^ℹ (?:pass|fail|skipped)/.test(line))
const lines = checks.map((line) => line.replace(/ \(\d.*$/, ''))
const ok = status === 0 && lines.includes('ℹ skipped 0')
report('prove-chart', conditions, { ok, lines }, [...lines, '', ok ? 'PASSED' : 'FAILED'])
process.exit(ok ? 0 : 1)
